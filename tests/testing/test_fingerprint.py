"""What stays of a failure."""

from codeplane.testing.case import Case
from codeplane.testing.fingerprint import fingerprint
from tests.interaction.requirements import requirement


def _failed(stack: str, name: str = "test_x") -> str:
    return fingerprint("test_a.py", Case(name=name, status="failed", kind="ValueError", stack=stack))


@requirement("TST-07")
def test_equal_but_for_numbers_places_and_addresses() -> None:
    one = _failed("/home/a/shop.py:12: in total\n<Cart at 0x7f01> took 0.13 s")
    assert one == _failed("/srv/b/shop.py:14: in total\n<Cart at 0x7faa> took 2.5 s")
    assert one != _failed("/home/a/shop.py:12: in price\n<Cart at 0x7f01> took 0.13 s")
    assert one != _failed("/home/a/shop.py:12: in total\n<Cart at 0x7f01> took 0.13 s", "test_y")
