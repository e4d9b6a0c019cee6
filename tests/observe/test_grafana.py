"""The dashboard and the alert rules that are shipped name metrics and labels that exist."""

import json
import re
from pathlib import Path
from typing import cast

import pytest
import yaml

from codeplane.kernel.event_log import EventLog
from codeplane.kernel.json import JsonObject
from codeplane.kernel.redaction import Redactor
from codeplane.observe.index_metrics import IndexMetrics, ReconcileTimes
from codeplane.observe.ledger_metrics import LedgerMetrics
from codeplane.observe.stream_metrics import StreamMetrics
from codeplane.observe.trace_export import TraceExport
from codeplane.observe.trace_metrics import TraceMetrics
from tests.interaction.requirements import requirement
from tests.observe.clock import HandClock
from tests.observe.test_metrics import Bench

pytestmark = requirement("OBS-13")

FOLDER = Path(__file__).parents[2] / "deploy" / "grafana"
_METRIC = re.compile(r"\b((?:codeplane|process)_[a-z0-9_]+)")
_LABELLED = re.compile(r"\b((?:codeplane|process)_[a-z0-9_]+)\{([^}]*)\}")
_BY = re.compile(r"\bby \(([^)]*)\)")
# What Prometheus itself adds.
_TARGET = {"job", "instance", "le"}


async def nobody() -> int:
    return 0


@pytest.fixture(scope="module")
def series() -> dict[str, set[str]]:
    """Every series there is, with its labels, of metrics with all of their parts."""
    bench = Bench()
    bench.watch("search")
    bench.finish("search")
    bench.metrics.task_closed("CLOSED_SUCCESS")
    bench.metrics.call_crashed(operation="search", call_id="c", error=ValueError())
    bench.metrics.read("codeplane_task_budget_used_ratio", "x", lambda: 0)
    state: JsonObject = {"version": 1, "commit": "a", "healthy": True}
    logger = bench.logs.logger("traces")
    bench.metrics.include(
        IndexMetrics(
            state=lambda: state,
            head=lambda: "a",
            clock=HandClock(),
            reconciles=ReconcileTimes(),
            indexers=lambda: {"python": 1},
        ),
        LedgerMetrics(log=cast(EventLog, None), after=0, pending=nobody),
        StreamMetrics(position=lambda: 0),
        TraceMetrics(),
        TraceExport(send=lambda body: None, resource={}, redactor=Redactor(), logger=logger),
    )
    found: dict[str, set[str]] = {}
    for name, labels in bench.series():
        found.setdefault(name, set()).update(label for label, _ in labels)
    return found


def expressions() -> list[tuple[str, str]]:
    """Every query of the dashboard and the rules, with where it stands."""
    dashboard = json.loads((FOLDER / "codeplane.json").read_text())
    rules = yaml.safe_load((FOLDER / "alerts.yaml").read_text())
    asked = [(panel["title"], target["expr"]) for panel in dashboard["panels"] for target in panel.get("targets", ())]
    asked += [(rule["alert"], rule["expr"]) for group in rules["groups"] for rule in group["rules"]]
    return asked


@pytest.mark.parametrize(("title", "expression"), expressions())
def test_what_is_asked_for_exists(title: str, expression: str, series: dict[str, set[str]]) -> None:
    named = set(_METRIC.findall(expression))
    assert named, title
    assert named <= series.keys()
    for name, matchers in _LABELLED.findall(expression):
        labels = set(re.findall(r"(\w+)(?:=~|!~|!=|=)", matchers))
        assert labels <= series[name] | _TARGET, name
    known = _TARGET.union(*(series[name] for name in named))
    for grouped in _BY.findall(expression):
        assert {label.strip() for label in grouped.split(",")} <= known
    assert expression.count("(") == expression.count(")")
    assert expression.count("{") == expression.count("}")


def test_every_metric_of_ours_is_shown_or_said_not_to_be(series: dict[str, set[str]]) -> None:
    shown = {name for _, expression in expressions() for name in _METRIC.findall(expression)}
    ours = {name for name in series if name.startswith("codeplane_") and not name.endswith("_created")}
    base = {re.sub(r"_(bucket|count|sum|total)$", "", name) for name in shown}
    unseen = {name for name in ours if re.sub(r"_(bucket|count|sum|total)$", "", name) not in base}
    assert unseen == {
        "codeplane_build_info",  # chooses the instance
        "codeplane_ledger_last_position",
        "codeplane_notifications_read_total",
        "codeplane_otlp_sent_total",
    }


def test_the_dashboard_can_be_taken_in() -> None:
    dashboard = json.loads((FOLDER / "codeplane.json").read_text())
    panels = dashboard["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    assert {variable["name"] for variable in dashboard["templating"]["list"]} == {"datasource", "job", "instance"}
    taken: set[tuple[int, int]] = set()
    for panel in panels:
        place = panel["gridPos"]
        cells = {
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        }
        assert place["x"] + place["w"] <= 24
        assert not taken & cells, panel["title"]
        taken |= cells


def test_every_rule_says_how_bad_it_is_and_what_to_do() -> None:
    rules = yaml.safe_load((FOLDER / "alerts.yaml").read_text())["groups"][0]["rules"]
    assert len({rule["alert"] for rule in rules}) == len(rules)
    for rule in rules:
        assert rule["labels"]["severity"] in {"info", "warning", "critical"}
        assert rule["annotations"]["summary"]
        assert rule["annotations"]["action"]
