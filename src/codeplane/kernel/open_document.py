"""A file as a client has it open, which may differ from the disk."""

from functools import cached_property

from pydantic import BaseModel, ConfigDict, Field

from codeplane.kernel.document_limits import MAX_CHARACTERS


class OpenDocument(BaseModel):
    """The text of a file as its client shows it: positions in a question count in it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    path: str = Field(min_length=1, max_length=4096)
    text: str = Field(max_length=MAX_CHARACTERS)

    @cached_property
    def data(self) -> bytes:
        """The text as bytes; encoded once, however often the document is sent along."""
        return self.text.encode("utf-8", "surrogatepass")
