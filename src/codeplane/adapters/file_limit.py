"""How many files this process may have open."""

import resource


def raise_file_limit(wanted: int) -> int:
    """Raise the limit on open files to what is wanted, as far as the system allows; returns what it is then."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return wanted
    raised = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (raised, hard))
    except (OSError, ValueError):
        return soft
    return raised
