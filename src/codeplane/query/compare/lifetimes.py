"""Lifetimes of Rust that a signature may leave out, and results that live longer than before."""

import re
from dataclasses import replace

from codeplane.query.compare.header import Header
from codeplane.query.compare.tokens import split_at

_LIFETIME = re.compile(r"'\w+")
_REFERENCE = re.compile(r"& (?:'_ )")
_BARE = re.compile(r"\+ '\w+ ?|'\w+(?: ,)? ?")


def with_elided_lifetimes(header: Header) -> Header:
    """The header without the lifetimes of its own that mean what leaving them out means."""
    if header.parameters is None or "'" not in header.generics:
        return header
    parts = [" ".join(part) for part in split_at(header.generics.split(" ")[1:-1], ",", angles=True)]
    taken = [_slots(parameter.type) for parameter in header.parameters]
    every = [slot for slots in taken for slot in slots]
    borrowed = taken[0] if _borrows_itself(header) else []
    elsewhere = " ".join([header.rest, *(part for part in parts if not _LIFETIME.fullmatch(part))])
    names = {
        part
        for part in parts
        if _LIFETIME.fullmatch(part)
        and every.count(part) == 1
        and part not in _LIFETIME.findall(elsewhere)
        and (part not in _LIFETIME.findall(header.returns) or part in borrowed or (not borrowed and len(every) == 1))
    }
    if not names:
        return header

    def elided(text: str) -> str:
        written = " ".join("'_" if word in names else word for word in text.split(" "))
        return _REFERENCE.sub("& ", written)

    left = [part for part in parts if part not in names]
    return replace(
        header,
        generics=f"< {' , '.join(left)} >" if left else "",
        parameters=tuple(replace(each, name=elided(each.name), type=elided(each.type)) for each in header.parameters),
        returns=elided(header.returns),
    )


def lives_longer(old: Header, new: Header) -> bool:
    """Whether a result that lived as long as what was borrowed now lives as long as what that is made from."""
    if not new.parameters or old.parameters is None or not _borrows_itself(old) or not _borrows_itself(new):
        return False
    if any(each != "'_" for each in _LIFETIME.findall(old.returns)) or "< 'static" in new.returns:
        return False
    own = set(_LIFETIME.findall(new.generics))
    return own.isdisjoint(_LIFETIME.findall(new.returns)) and _bare(old.returns) == _bare(new.returns)


def _bare(text: str) -> str:
    """A type without its lifetimes."""
    return _BARE.sub("", f"{text} ").replace("< > ", "").strip()


def _borrows_itself(header: Header) -> bool:
    first = header.parameters[0] if header.parameters else None
    return first is not None and first.type.startswith("&") and first.type.split(" ")[-1] == "self"


def _slots(written: str) -> list[str]:
    """The lifetimes of a type, with `'_` for those that a reference leaves out."""
    tokens = written.split(" ")
    slots = [token for token in tokens if _LIFETIME.fullmatch(token)]
    left_out = [
        at for at, token in enumerate(tokens) if token == "&" and not tokens[at + 1 : at + 2][0].startswith("'")
    ]
    return slots + ["'_"] * len(left_out)
