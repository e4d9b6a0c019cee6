"""The places that navigation is asked about."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.json_schema import SkipJsonSchema

from codeplane.kernel.document_limits import MAX_DOCUMENTS
from codeplane.kernel.ids import digest
from codeplane.kernel.json import canonical
from codeplane.kernel.open_document import OpenDocument
from codeplane.kernel.workspace_request import WorkspaceRequest
from codeplane.query.navigation.positions import Unit

Wanted = Literal["definition", "type", "implementation"]


class FileRequest(WorkspaceRequest):
    """A file, and the documents that its caller has open."""

    # Texts of open documents do not belong into the log: their hash and size do.
    recorded = False

    path: str = Field(min_length=1, max_length=4096)
    columns: SkipJsonSchema[Unit] = Field("characters", description="what columns count")
    documents: SkipJsonSchema[tuple[OpenDocument, ...]] = Field(
        (), max_length=MAX_DOCUMENTS, description="texts that the caller has open and not saved"
    )

    def fingerprint(self) -> tuple[str, int]:
        """The hash and the size of a request that its caller made itself."""
        plain = self.model_dump(mode="json", exclude_unset=True, exclude={"documents"})
        encoded = canonical(plain)
        texts = [f"{document.path} {len(document.text)} {hash(document.text)}" for document in self.documents]
        return digest(encoded + "\n".join(texts).encode()), len(encoded)


class PlaceRequest(FileRequest):
    """A place in a file; lines and columns count from 1."""

    line: int = Field(ge=1, le=2**31)
    column: int = Field(ge=1, le=2**31)


class SymbolAtRequest(PlaceRequest):
    """The place of a name, and what is wanted of it."""

    want: Wanted = Field("definition", description="of a value its type, of a class or method what builds on it")
    detail: bool = Field(False, description="with signature and documentation")


class OutlineRequest(FileRequest):
    """A file whose definitions are wanted."""

    detail: bool = Field(True, description="with signatures")


class ReferencesAtRequest(PlaceRequest):
    """The place of a name whose references are wanted."""

    declaration: bool = Field(True, description="with the definition itself")
    only_file: bool = Field(False, description="those in the same file alone")


class FindRequest(WorkspaceRequest):
    """A part of a name, or an abbreviation of it."""

    query: str = Field(min_length=1, max_length=500)
    limit: int = Field(50, ge=1, le=500)
    columns: SkipJsonSchema[Unit] = Field("characters", description="what columns count")


class FileColumn(BaseModel):
    """A column of a file's line, in characters."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    path: str = Field(min_length=1, max_length=4096)
    line: int = Field(ge=1, le=2**31)
    column: int = Field(ge=1, le=2**31)


class ColumnsRequest(WorkspaceRequest):
    """Columns in characters, and what they are to be counted in."""

    places: tuple[FileColumn, ...] = Field(min_length=1, max_length=50_000)
    columns: Unit = Field(description="what columns count")
