"""The tree of folders, whatever the paths."""

from hypothesis import given
from hypothesis import strategies as st

from codeplane.index.files.file import Stamp
from codeplane.index.snapshot import IndexedFile
from codeplane.query.folders import Folder, folders_of
from tests.interaction.requirements import requirement

_NAME = st.text(st.sampled_from("abc."), min_size=1, max_size=3)
_PATHS = st.sets(st.lists(_NAME, min_size=1, max_size=4).map("/".join), max_size=20)


def known(path: str, size: int) -> IndexedFile:
    stamp = Stamp(size=size, mtime_ns=0, inode=0, mode=0, ctime_ns=0)
    return IndexedFile(path=path, stamp=stamp, digest="", offset=0, length=size, tracked=True)


@requirement("MAP-01")
@given(_PATHS)
def test_counts_add_up_and_everything_is_listed_once(paths: set[str]) -> None:
    # A path cannot be a file and a folder at once.
    files = {path: known(path, 3) for path in sorted(paths) if not any(one.startswith(f"{path}/") for one in paths)}
    root = folders_of(files)
    assert root.file_count == len(files) and root.size_bytes == 3 * len(files)
    listed = [one.path for _, one in root.below(10) if not isinstance(one, Folder)]
    assert sorted(listed) == sorted(files)
    for _, one in root.below(10):
        if isinstance(one, Folder):
            below = [path for path in files if path.startswith(f"{one.path}/")]
            assert one.file_count == len(below) > 0
            assert root.at(one.path) is one
    assert root.at("no/such") is None
