"""Repositories inside the work tree are not entered by a look at the one around them."""

from collections.abc import Sequence

_LOOKS = frozenset({"status", "diff"})


def unentered(arguments: Sequence[str]) -> list[str]:
    """The same command; whether files inside a submodule changed is not looked at.

    Git would run what that repository's own settings name (filters, monitors), and whoever can write files can write
    those. That it is at another commit is still seen.
    """
    if arguments and arguments[0] in _LOOKS:
        return [arguments[0], "--ignore-submodules=dirty", *arguments[1:]]
    return list(arguments)
