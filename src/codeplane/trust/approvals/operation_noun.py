"""What people call a call that they are asked about."""

from codeplane.kernel.operation import Risk

_NOUNS = {
    "git.push": "push",
    "git.fetch": "fetch",
    "git.pull": "pull",
    "git.clone": "clone",
    "git.submodule_add": "new submodule",
    "git.submodule_update": "fetch of submodules",
    "web.open": "web page",
    "web.search": "web search",
    "run_bash": "shell command",
    "test.run": "test run",
    "workspace.attach": "folder to open",
    "capability.request": "more rights",
    "session.create": "larger budget",
    "session.configure": "larger budget",
}


def plain_noun(operation: str, risk: Risk) -> str:
    """A noun where there is one, else the operation's name; with what it does where that is not in the noun."""
    noun = _NOUNS.get(operation)
    if noun is None:
        return f"{operation} ({risk.plain})"
    return f"{noun} ({risk.plain})" if risk is Risk.DESTRUCTIVE else noun
