"""Soak tests run only when they are asked for: `make soak`, or `pytest -m soak`."""

import pytest


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if "soak" in str(config.option.markexpr):
        return
    unasked = [item for item in items if item.get_closest_marker("soak") is not None]
    if unasked:
        config.hook.pytest_deselected(items=unasked)
        items[:] = [item for item in items if item not in unasked]
