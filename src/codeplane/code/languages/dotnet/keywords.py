"""The words of C# that are no names, and those that are names at some places only."""

from codeplane.code.languages.reserved_words import reserved_words, words

CSHARP_RESERVED = reserved_words(
    hard="""abstract as base bool break byte case catch char checked class const continue decimal default
        delegate do double else enum event explicit extern false finally fixed float for foreach goto if
        implicit in int interface internal is lock long namespace new null object operator out override
        params private protected public readonly ref return sbyte sealed short sizeof stackalloc static
        string struct switch this throw true try typeof uint ulong unchecked unsafe ushort using virtual
        void volatile while""",
    soft="""add alias ascending async await by descending dynamic equals field file from get global group init
        into join let nameof notnull on orderby partial record remove required scoped select set unmanaged
        value var when where with yield""",
    shadowed="Object String Console Exception Task",
)
CSHARP_SOFT = words(
    """add alias and ascending async by descending dynamic equals field file from get global group init
        into join let managed nameof not notnull on or orderby partial record remove required scoped select
        set unmanaged value var when where with yield"""
)
