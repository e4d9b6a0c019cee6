"""A file of settings that commands write: named entries in one section, with everything else in it left alone."""

from pathlib import Path

from codeplane.adapters.file_replacement import replace_file, storage_error
from codeplane.adapters.yaml_document import Document, Origin
from codeplane.kernel.errors import ConfigInvalid
from codeplane.kernel.json import JsonObject


class EntryFile:
    """Adds and removes the entries of one setting."""

    def __init__(self, path: Path, *, head: str, section: str, entries: str) -> None:
        """`head` is the comment at its beginning; the entries are `section.entries`."""
        self._path = path
        self._head = head
        self._section = section
        self._entries = entries

    def entries(self) -> dict[str, JsonObject]:
        """The entries in the file by name."""
        return self._entries_of(self._read())

    def add(self, entries: dict[str, JsonObject]) -> None:
        """Put entries into the file, in place of those with their names."""
        document = self._read()
        merged: JsonObject = {**self._entries_of(document), **entries}
        self._write(document, merged)

    def remove(self, name: str) -> bool:
        """Take an entry out of the file; False when it is not there."""
        document = self._read()
        entries = self._entries_of(document)
        if entries.pop(name, None) is None:
            return False
        self._write(document, {**entries})
        return True

    def _entries_of(self, document: JsonObject) -> dict[str, JsonObject]:
        section = document.get(self._section)
        entries = section.get(self._entries) if isinstance(section, dict) else None
        if not isinstance(entries, dict):
            return {}
        return {name: entry for name, entry in entries.items() if isinstance(entry, dict)}

    def _read(self) -> JsonObject:
        try:
            text = self._path.read_text()
        except FileNotFoundError:
            return {}
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigInvalid(f"{self._path} cannot be read: {error}") from error
        value = Document.parse(text, Origin(name=str(self._path), is_file=True)).value
        return dict(value) if isinstance(value, dict) else {}

    def _write(self, document: JsonObject, entries: JsonObject) -> None:
        import yaml

        section = document.get(self._section)
        changed = {
            **document,
            self._section: {**(section if isinstance(section, dict) else {}), self._entries: entries},
        }
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise storage_error(error, self._path) from error
        replace_file(self._path, self._head + yaml.safe_dump(changed, sort_keys=False, allow_unicode=True))
