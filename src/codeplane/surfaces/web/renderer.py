"""Rendering of templates, with escaping."""

import json
from collections.abc import Callable
from pathlib import Path

from jinja2 import Environment, FileSystemLoader

from codeplane.kernel.failure import REFUSED
from codeplane.kernel.json import JsonValue
from codeplane.surfaces.web import text_formats
from codeplane.surfaces.web.charts import sparkline
from codeplane.surfaces.web.diff_view import split_preview
from codeplane.surfaces.web.markdown_view import render_markdown

NAVIGATION = (
    ("Overview", "/dashboard"),
    ("Activity", "/dashboard/activity"),
    ("Approvals", "/dashboard/approvals"),
    ("Threads", "/dashboard/threads"),
    ("Tasks", "/dashboard/tasks"),
    ("Work", "/dashboard/work"),
    ("Artifacts", "/dashboard/artifacts"),
    ("Skills", "/dashboard/skills"),
    ("Schedules", "/dashboard/schedules"),
    ("Tools", "/dashboard/tools"),
    ("Changes", "/dashboard/changes"),
    ("Repository", "/dashboard/repository"),
    ("Explore", "/dashboard/explore"),
    ("Ledger", "/dashboard/ledger"),
    ("Trust", "/dashboard/trust"),
    ("Settings", "/dashboard/settings"),
)


class Renderer:
    """The templates of the dashboard, with their filters and globals."""

    def __init__(self, folder: Path, *, url: Callable[[str], str], repository: str, version: str) -> None:
        self._environment = environment = Environment(
            loader=FileSystemLoader(folder),
            autoescape=True,
            trim_blocks=True,
            lstrip_blocks=True,
            auto_reload=False,
        )
        environment.filters |= {
            "duration": text_formats.format_duration,
            "span": text_formats.format_long_duration,
            "number": text_formats.format_number,
            "size": text_formats.format_size,
            "short": text_formats.shorten_id,
            "moment": text_formats.format_time,
            "ago": text_formats.format_relative_time,
            "actor": text_formats.format_actor,
            "capitalize_first": text_formats.capitalize_first,
            "json": _pretty,
            "markdown": render_markdown,
            "preview_lines": split_preview,
        }
        environment.globals |= {
            "static": url,
            "navigation": NAVIGATION,
            "repository": repository,
            "version": version,
            "sparkline": sparkline,
            "marked": text_formats.mark_matches,
            "refusals": REFUSED,
        }

    def text(self, template: str, **context: object) -> str:
        """Render a template to text."""
        return self._environment.get_template(template).render(**context)


def _pretty(value: JsonValue) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)
