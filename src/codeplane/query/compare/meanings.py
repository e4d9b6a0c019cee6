"""What names mean, asked for many definitions in a row: what was found for one is not found again for the next."""

from codeplane.code.resolve.names import Meaning
from codeplane.code.resolve.resolver import Resolver
from codeplane.code.resolve.world import World


class Meanings(Resolver):
    """A resolver that keeps what the places of one name mean, and counts what it had to find out."""

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.spent = 0
        self._looked_for = ""
        self._found_at: dict[tuple[str, int], Meaning] = {}

    def at(self, path: str, offset: int, name: str) -> Meaning:
        """What the name at a place of a file means."""
        if name != self._looked_for:
            # Changes come sorted by their names.
            self._looked_for, self._found_at = name, {}
        found = self._found_at.get((path, offset))
        if found is None:
            self.spent += 1
            found = self._found_at[path, offset] = super().at(path, offset, name)
        return found
