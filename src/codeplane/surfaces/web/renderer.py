"""Templates filled in; everything that comes from outside is escaped."""

import json
from collections.abc import Callable
from pathlib import Path

from jinja2 import Environment, FileSystemLoader

from codeplane.kernel.failure import REFUSED
from codeplane.kernel.json import JsonValue
from codeplane.surfaces.web import wording
from codeplane.surfaces.web.drawing import sparkline

NAVIGATION = (
    ("Overview", "/dashboard"),
    ("Activity", "/dashboard/activity"),
    ("Approvals", "/dashboard/approvals"),
    ("Tasks", "/dashboard/tasks"),
    ("Changes", "/dashboard/changes"),
    ("Repository", "/dashboard/repository"),
    ("Ledger", "/dashboard/ledger"),
    ("Trust", "/dashboard/trust"),
    ("Settings", "/dashboard/settings"),
)


class Renderer:
    """The templates of the dashboard with everything they may use."""

    def __init__(self, folder: Path, *, url: Callable[[str], str], repository: str, version: str) -> None:
        self._environment = environment = Environment(
            loader=FileSystemLoader(folder),
            autoescape=True,
            trim_blocks=True,
            lstrip_blocks=True,
            auto_reload=False,
        )
        environment.filters |= {
            "duration": wording.duration,
            "span": wording.span,
            "number": wording.number,
            "size": wording.size,
            "short": wording.short,
            "moment": wording.moment,
            "ago": wording.ago,
            "actor": wording.actor,
            "capitalize_first": wording.sentence,
            "json": _pretty,
        }
        environment.globals |= {
            "static": url,
            "navigation": NAVIGATION,
            "repository": repository,
            "version": version,
            "sparkline": sparkline,
            "marked": wording.marked,
            "refusals": REFUSED,
        }

    def text(self, template: str, **context: object) -> str:
        """One template with what it is about."""
        return self._environment.get_template(template).render(**context)


def _pretty(value: JsonValue) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)
