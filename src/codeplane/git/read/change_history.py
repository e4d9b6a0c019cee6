"""The newest commits: when they were made, what their messages say, and which files they changed."""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass

from codeplane.git.read.reader import GitReader

_COMMITS = 1000
LOG = (
    "log",
    "-z",
    f"--max-count={_COMMITS}",
    "--format=%x01%ct%n%B",
    "--name-only",
    "--no-merges",
    "--no-renames",
)
_MAX_MESSAGE = 3000
_MAX_BYTES = 4 * 1024 * 1024
# Who signed a commit says nothing of what it changed.
_TRAILER = re.compile(r"^(?:[A-Z][\w-]*-by|Change-Id|git-svn-id): .*$", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A commit that is no merge."""

    time: int
    """Seconds since 1970, by its committer."""
    title: str
    body: str
    files: tuple[str, ...]


async def read_changes(reader: GitReader, head: str) -> tuple[Change, ...]:
    """The newest commits up to `head`, newest first."""
    output = await reader.run(*LOG, head, max_bytes=_MAX_BYTES)
    return parse_changes(output.out, cut=output.cut)


def parse_changes(output: bytes, *, cut: bool = False) -> tuple[Change, ...]:
    """The commits in what git's `LOG` printed; `cut` where its end is missing."""
    records = output.split(b"\x01")[1:]
    # The last one may lack some of its files.
    return tuple(_changes(records[:-1] if cut else records))


def _changes(records: list[bytes]) -> Iterator[Change]:
    for record in records:
        message, *names = record.split(b"\0")
        time, _, text = message.partition(b"\n")
        if not time.isdigit():
            # Part of a message that has the mark in it.
            continue
        title, _, body = text[:_MAX_MESSAGE].decode("utf-8", "replace").partition("\n")
        # git puts a line break before the first name.
        files = tuple(os.fsdecode(name.lstrip(b"\n")) for name in names if name.strip(b"\n"))
        yield Change(time=int(time), title=title, body=_TRAILER.sub("", body), files=files)
