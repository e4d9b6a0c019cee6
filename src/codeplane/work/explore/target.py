"""What is explored: the repository itself, a folder of it, or an attached workspace."""

from dataclasses import dataclass

from codeplane.kernel.json import JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """The workspace by its name, empty for the repository that is served, and the folder in it."""

    name: str
    workspace: str = ""
    folder: str = ""

    @property
    def scope(self) -> JsonObject:
        """The argument that names the workspace to an operation."""
        return {"workspace": self.workspace} if self.workspace else {}

    @property
    def paths(self) -> list[str]:
        """The paths that a search is bound to; none for all."""
        return [f"{self.folder}/"] if self.folder else []

    def holds(self, path: str) -> bool:
        """Whether a path lies in what is explored."""
        return not self.folder or path.startswith(f"{self.folder}/")

    def to_json(self) -> JsonObject:
        """The target as records have it."""
        return {"name": self.name, "workspace": self.workspace, "folder": self.folder}

    @classmethod
    def from_json(cls, values: JsonObject) -> "Target":
        """The target that `to_json` wrote."""
        return cls(name=str(values["name"]), workspace=str(values["workspace"]), folder=str(values["folder"]))
