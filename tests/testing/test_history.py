"""What is remembered of earlier runs."""

from pathlib import Path

from codeplane.testing.history import History
from tests.interaction.requirements import requirement


@requirement("TST-02")
def test_costs_are_medians_and_survive(tmp_path: Path) -> None:
    history = History(tmp_path / "h" / "history.json")
    assert history.cost("a") == 1.0
    for seconds in (1.0, 9.0, 2.0):
        history.note("a", seconds=seconds, ran=["a::x"], bad=["a::x"], whole=True)
    history.save(known=["a"])
    again = History(tmp_path / "h" / "history.json")
    assert (again.cost("a"), again.failing_tests("a"), again.failed_targets()) == (2.0, ("a::x",), ("a",))


@requirement("TST-02")
def test_tests_that_were_left_out_stay_as_they_were(tmp_path: Path) -> None:
    history = History(tmp_path / "history.json")
    history.note("a", seconds=1, ran=["a::x", "a::y"], bad=["a::x", "a::y"], whole=True)
    history.note("a", seconds=None, ran=["a::x"], bad=[], whole=False)
    assert history.failing_tests("a") == ("a::y",)
    history.note("a", seconds=None, ran=["a::x"], bad=[], whole=True)
    assert history.failing_tests("a") == ()


@requirement("TST-02")
def test_what_is_no_more_is_forgotten_and_a_damaged_file_is_nothing(tmp_path: Path) -> None:
    file = tmp_path / "history.json"
    history = History(file)
    history.note("a", seconds=1, ran=[], bad=[], whole=True)
    history.save(known=[])
    assert not History(file).ran("a")
    file.write_text('{"format": 1, "targets": [')
    assert not History(file).ran("a")
