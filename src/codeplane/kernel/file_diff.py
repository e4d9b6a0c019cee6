"""Unified diffs of single files, as mutations are shown."""


def lines_of_hunks(diff: str) -> list[str]:
    """Return the lines of a unified diff of one file, each with its end, without the names that it begins with.

    A removed line may itself begin with two dashes, as comments of Lua and SQL do, and a line may hold characters at
    which `str.splitlines` would cut it.
    """
    lines = [f"{line}\n" for line in diff.split("\n")]
    lines[-1] = lines[-1].removesuffix("\n")
    first = next((index for index, line in enumerate(lines) if line.startswith("@@")), 0)
    return [line for line in lines[first:] if line]
