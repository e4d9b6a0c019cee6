"""The owner's lists of hosts."""

import re
from collections.abc import Sequence

from codeplane.kernel.errors import AddressDenied, ConfigInvalid


class HostLists:
    """`allow` narrows to the hosts it names, `deny` takes out of whatever is left; `*.x` is x and all below."""

    def __init__(self, *, allow: Sequence[str], deny: Sequence[str]) -> None:
        self._allow = tuple(map(_compiled, allow))
        self._deny = tuple(map(_compiled, deny))

    def check(self, host: str) -> None:
        """AddressDenied unless the host may be fetched from."""
        if any(one.fullmatch(host) for one in self._deny):
            raise AddressDenied(f"{host} is on the owner's list web.deny")
        if self._allow and not any(one.fullmatch(host) for one in self._allow):
            raise AddressDenied(f"{host} is not on the owner's list web.allow")


def _compiled(pattern: str) -> re.Pattern[str]:
    plain = pattern.strip().lower().removesuffix(".").removeprefix("[").removesuffix("]")
    try:
        plain = plain.encode("idna").decode("ascii") if not plain.isascii() else plain
    except UnicodeError as error:
        raise ConfigInvalid(f"web.allow or web.deny names {pattern[:100]!r}, which is no host") from error
    if not plain:
        raise ConfigInvalid("web.allow or web.deny names an empty host")
    if plain.startswith("*."):
        return re.compile(r"(?:.+\.)?" + _glob(plain[2:]))
    return re.compile(_glob(plain))


def _glob(pattern: str) -> str:
    # A star stays in its part of the name.
    return "".join("[^.]*" if one == "*" else re.escape(one) for one in pattern)
