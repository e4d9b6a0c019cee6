"""Lua."""

from codeplane.code.languages.comment_syntax import CommentSyntax
from codeplane.code.languages.contract import Contract
from codeplane.code.languages.language import Language
from codeplane.code.languages.lua.keywords import LUA_RESERVED, LUA_SOFT
from codeplane.code.languages.reserved_words import words

LUA = Language(
    name="lua",
    package="lua",
    title="Lua",
    extensions=("lua",),
    shebangs=("lua", "luajit"),
    variables_in=frozenset({"file"}),
    members=(".", ":"),
    import_binds="none",
    explicit_members=True,
    comments=CommentSyntax(lines=(b"--",), blocks=((b"--[[", b"]]"),)),
    soft_keywords=LUA_SOFT,
    reserved=LUA_RESERVED,
    contract=Contract(visible="static", module="file", modifiers=words("local function"), shape="bare"),
    patterns=("lua",),
)
LANGUAGES = (LUA,)
