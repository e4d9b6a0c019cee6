"""The file that has the name of a type, and is renamed with it."""

from codeplane.index.files.paths import path_text
from codeplane.kernel.errors import NameTaken
from codeplane.refactor.draft import FileMove
from codeplane.refactor.rename.rename_context import RenameContext


def file_moves(context: RenameContext) -> tuple[FileMove, ...]:
    """Return the move of a file that is named by the subject; refused if there is a file of the new name."""
    subject, path = context.subject, context.subject.bound.file
    if not subject.language.names.files_named_by_types or subject.sort != "top" or subject.definition is None:
        return ()
    folder, _, file = path.rpartition("/")
    stem, _, ending = file.partition(".")
    if stem != subject.name:
        return ()
    new_path = f"{folder}/{context.new}.{ending}".lstrip("/")
    if new_path in context.world.snapshot.files:
        raise NameTaken(
            f"{context.new} is taken: there is a file {path_text(new_path)},"
            f" and {path_text(path)} is named by {subject.name}",
            details={"places": [{"path": path_text(new_path)}], "total": 1},
        )
    return (FileMove(path=path, new_path=new_path),)
