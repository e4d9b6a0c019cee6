"""Commits as results carry them, and the git options that print them."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta, timezone

from codeplane.kernel.operation import Result

# Fields are separated by NUL, which no commit can contain; the raw date keeps the author's time zone.
FIELDS = ("%H", "%h", "%P", "%aN", "%aE", "%ad", "%B")
FORMAT = ("-z", "--encoding=UTF-8", "--date=raw", f"--format=tformat:{'%x00'.join(FIELDS)}")
MAX_MESSAGE = 4000


class Author(Result):
    """Who, and when."""

    name: str
    email: str
    time: str

    @property
    def day(self) -> str:
        """The date alone."""
        return self.time[:10]


class Commit(Result):
    """A commit without its changes."""

    oid: str
    short_oid: str
    message: str
    author: Author
    parents: tuple[str, ...]

    @property
    def subject(self) -> str:
        """The first line of the message."""
        return self.message.lstrip().partition("\n")[0].rstrip()

    def text(self) -> str:
        merge = " (merge)" if len(self.parents) > 1 else ""
        return f"{self.short_oid} {self.author.day} {self.author.name}: {self.subject}{merge}"


def commits_in(records: Sequence[bytes], *, max_message: int = MAX_MESSAGE) -> list[Commit]:
    """Parse the commits that git printed with `FORMAT`."""
    fields = [field.decode("utf-8", "backslashreplace") for field in records]
    size = len(FIELDS)
    return [_commit(fields[at : at + size], max_message) for at in range(0, len(fields) - size + 1, size)]


def _commit(fields: Sequence[str], max_message: int) -> Commit:
    oid, short, parents, name, email, when, message = fields
    message = message.rstrip("\n")
    if len(message) > max_message:
        message = f"{message[:max_message]}… {len(message) - max_message} characters more"
    return Commit(
        oid=oid,
        short_oid=short,
        message=message,
        author=Author(name=name, email=email, time=moment(when)),
        parents=tuple(parents.split()),
    )


def moment(raw: str) -> str:
    """Return git's raw date (`seconds +hhmm`) as ISO 8601 in the same zone, or an empty string."""
    seconds, _, zone = raw.partition(" ")
    try:
        offset = timedelta(hours=int(zone[:3]), minutes=int(zone[0] + zone[3:5])) if len(zone) == 5 else timedelta()
        return datetime.fromtimestamp(int(seconds), UTC).astimezone(timezone(offset)).isoformat()
    except (ValueError, OverflowError, OSError):
        return ""
