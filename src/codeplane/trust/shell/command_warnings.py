"""Warnings about what a command seems to do; never a gate, because a shell has endless spellings."""

from functools import lru_cache
from typing import Protocol, cast

from codeplane.kernel.invisible_text import is_invisible

_SHELLS = r"(?:ba|z|da|k|fi)?sh|python[0-9.]*|perl|ruby|node|php"
_START = r"(?:^|[;&|({`\n]|\$\()\s*(?:(?:sudo|env|command|exec|nohup|time|xargs)\s+(?:-\S+\s+)*)*(?:\w+=\S*\s+)*"
# Linear-time patterns: the text is the agent's own.
_WARNINGS: tuple[tuple[str, str], ...] = (
    (rf"(?:curl|wget|fetch)\b[^\n;]*\|\s*(?:sudo\s+)?(?:env\s+)?(?:\S*/)?(?:{_SHELLS})\b", "runs what it downloads"),
    (rf"(?:{_SHELLS})\s+(?:-c\s+)?[\"']?(?:<\(|\$\(|`)\s*(?:curl|wget)", "runs what it downloads"),
    (rf"base64\s+(?:-d|-D|--decode)[^\n;]*\|\s*(?:\S*/)?(?:{_SHELLS})\b", "runs encoded text as code"),
    (rf"\|\s*(?:sudo\s+)?(?:\S*/)?(?:{_SHELLS})\s*(?:-s?\s*)?(?:$|[;&|)\n])", "pipes into a shell"),
    (_START + r"(?:eval|source|\.)\s", "runs text as code"),
    (
        r"\brm\s+(?:-\S+\s+)*(?:-[a-zA-Z]*[rRf][a-zA-Z]*|--recursive|--force)\b",
        "removes files recursively or without asking",
    ),
    (r"\bfind\b[^\n;]*\s-(?:delete|exec\s+rm)\b", "removes the files it finds"),
    (r"\b(?:shred|mkfs[.\w]*|wipefs|fdisk|parted)\b|\bdd\s[^\n;]*\bof=", "overwrites files or devices"),
    (r"\b(?:sudo|doas|pkexec|su)\s", "asks for more rights"),
    (r"\bch(?:mod|own|attr)\b", "changes rights of files"),
    (r"\bgit\s+(?:-\S+\s+\S+\s+)*push\b", "pushes to a remote"),
    (
        r"\bgit\s+(?:-\S+\s+\S+\s+)*(?:reset\s+(?:-\S+\s+)*--hard|clean\s+-|checkout\s+(?:--\s|\.)|restore\b)",
        "throws away work in git",
    ),
    (
        r"\bgit\s+(?:-\S+\s+\S+\s+)*(?:rebase|filter-branch|commit\s[^\n;]*--amend|branch\s+-D|update-ref)",
        "rewrites git's history",
    ),
    (r"\bgit\s+(?:-\S+\s+\S+\s+)*config\b|core\.hooksPath|\.git/hooks", "touches git's settings or hooks"),
    (r"(?:>>?|\btee\s+(?:-a\s+)?)\s*[\"']?(?:/|~|\$HOME|\.\./)", "writes outside the repository"),
    (r"\.codeplane\b", "names CodePlane's own files"),
    (
        r"(?:~|\$HOME|/root|/home/\w+)/\.(?:ssh|aws|gnupg|config|netrc|docker|kube)|/etc/(?:shadow|passwd|sudoers)",
        "names places of secrets",
    ),
    (r"\b(?:printenv|env)\b\s*(?:$|[|;&>\n])|/proc/\S*/environ", "reads the environment"),
    (
        r"\b(?:pip3?|uv|pipx|poetry|npm|pnpm|yarn|bun|gem|cargo|go|apt|apt-get|dnf|yum|brew|conda)\s+(?:pip\s+)?"
        r"(?:install|add|get|i|ci|update|upgrade)\b|\bnpx\s|\buvx\s",
        "installs or fetches packages",
    ),
    (
        r"(?:^|[^.\w-])(?:curl|wget|nc|ncat|netcat|socat|ssh|scp|sftp|rsync|ftp|telnet|dig|nslookup)\b|/dev/(?:tcp|udp)/",
        "talks to other machines",
    ),
    (r"\b(?:nohup|setsid|disown|daemonize|at|crontab|systemctl|screen|tmux)\b", "starts what is to live on"),
    (r"[^&>|]&\s*(?:$|[\n)#]|[^&>\s])", "starts something in the background"),
    (r"\b(?:kill|pkill|killall)\b", "ends processes"),
    (r"\bdocker\b|\bpodman\b|\bkubectl\b|\bterraform\b|\baws\s|\bgcloud\s", "drives other systems"),
    (r":\s*\(\s*\)\s*\{", "looks like a fork bomb"),
    (r"[ \t]{100,}|\n{20,}", "hides part of itself behind blanks"),
)


class _Pattern(Protocol):
    def search(self, text: str, /) -> object | None: ...


def find_warnings(command: str) -> tuple[str, ...]:
    """The warnings about a command, each once, in the table's order."""
    warnings = [warning for pattern, warning in _patterns() if pattern.search(command) is not None]
    if any(is_invisible(character, strict=True) for character in command):
        warnings.append("has invisible or control characters")
    return tuple(dict.fromkeys(warnings))


@lru_cache(maxsize=1)
def _patterns() -> tuple[tuple[_Pattern, str], ...]:
    import re2  # type: ignore[import-untyped]  # the package ships no types

    return tuple((cast(_Pattern, re2.compile(f"(?m){pattern}")), warning) for pattern, warning in _WARNINGS)
