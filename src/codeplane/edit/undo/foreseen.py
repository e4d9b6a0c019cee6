"""What a person is shown before a mutation is taken back or done again: what moves, and the diff of its files."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from codeplane.edit.history.kept import Kept, Reversal, Sides
from codeplane.edit.undo.show import file_side
from codeplane.git.read.withheld import Withheld
from codeplane.index.files.paths import shown
from codeplane.kernel.clock import rfc3339
from codeplane.kernel.counted import counted
from codeplane.kernel.operation import Preview
from codeplane.kernel.secret_files import SecretRules

# Of what the preview names the handler is held to this one, whatever became of the session since.
MUTATION = "mutation_id"
_MAX_FILES = 100
_MAX_DIFFS = 48_000


class ForeseenUndo:
    """Tells what an undo or a redo would do, from what is kept of the mutation."""

    def __init__(self, *, root: Path, reversals: Mapping[str, Reversal], secrets: SecretRules) -> None:
        self._root = root
        self._secrets = secrets
        self._reversals = reversals

    async def of(self, kept: Kept) -> Preview:
        """A mutation the other way round: one that was applied is taken back, one that was undone is done again."""
        reversal = self._reversals.get(kept.kind)
        back = kept.state == "applied"
        sides = await reversal.sides(kept, kept.paths[:_MAX_FILES]) if reversal is not None else []
        files = await asyncio.to_thread(lambda: [*self._files([_flipped(one) if back else one for one in sides])])
        said = f"{kept.mutation_id} of {rfc3339(kept.at_ns)[:19]}, {counted(len(kept.paths), 'file')}"
        more = [f"and {counted(len(kept.paths) - _MAX_FILES, 'more file')}"] if len(kept.paths) > _MAX_FILES else []
        beside = reversal.beside(kept) if reversal is not None else ()
        return Preview(
            summary=f"{'Undo' if back else 'Redo'} {shown(kept.what)}",
            body="\n".join([said, *beside, *files, *more]),
            pins={MUTATION: kept.mutation_id},
        )

    def _files(self, sides: Sequence[Sides]) -> Iterator[str]:
        withheld, room = Withheld(self._root, self._secrets), _MAX_DIFFS
        for one in sides:
            hidden = any(withheld.covers(path) for path in (one.path, one.old_path) if path)
            file = file_side(one, hidden=hidden, room=room)
            room -= len(file.diff)
            yield file.text()


def _flipped(sides: Sides) -> Sides:
    return Sides(
        path=sides.old_path or sides.path,
        old_path=sides.path if sides.old_path else None,
        before=sides.after,
        after=sides.before,
        was_there=sides.is_there,
        is_there=sides.was_there,
        note=sides.note,
    )
