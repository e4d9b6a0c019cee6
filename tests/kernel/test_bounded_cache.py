"""The bounded cache: what it drops first, what it never drops, and that its weight stays true."""

import threading

from hypothesis import given
from hypothesis import strategies as st

from codeplane.kernel.bounded_cache import BoundedCache
from tests.interaction.requirements import requirement

pytestmark = requirement("HSE-03")


def test_the_least_recently_used_entry_goes_first() -> None:
    cache: BoundedCache[str, int] = BoundedCache(2)
    cache.put("a", 1)
    cache.put("b", 2)
    assert cache.get("a") == 1
    cache.put("c", 3)
    assert (cache.get("a"), cache.get("b"), cache.get("c")) == (1, None, 3)


def test_a_replaced_entry_counts_once_and_as_new() -> None:
    cache: BoundedCache[str, int] = BoundedCache(2)
    for key, value in (("a", 1), ("b", 2), ("a", 3), ("c", 4)):
        cache.put(key, value)
    assert (cache.get("a"), cache.get("b"), cache.get("c"), len(cache)) == (3, None, 4, 2)


def test_entries_go_until_the_weight_fits() -> None:
    cache: BoundedCache[str, bytes] = BoundedCache(max_weight=10, weigh=len)
    cache.put("a", b"1234")
    cache.put("b", b"1234")
    cache.put("c", b"12345678")
    assert (len(cache), cache.weight, cache.get("c")) == (1, 8, b"12345678")


def test_what_is_heavier_than_the_bound_is_not_kept() -> None:
    cache: BoundedCache[str, bytes] = BoundedCache(max_weight=10, weigh=len)
    cache.put("a", b"x" * 11)
    assert (cache.get("a"), len(cache), cache.weight) == (None, 0, 0)


def test_the_newest_entry_can_be_kept_however_heavy() -> None:
    cache: BoundedCache[str, bytes] = BoundedCache(5, max_weight=10, weigh=len, keep_newest=True)
    cache.put("a", b"1")
    cache.put("b", b"x" * 11)
    assert (cache.get("a"), cache.get("b"), len(cache)) == (None, b"x" * 11, 1)


def test_popping_and_clearing_give_the_weight_back() -> None:
    cache: BoundedCache[str, bytes] = BoundedCache(max_weight=10, weigh=len)
    cache.put("a", b"1234")
    cache.put("b", b"12")
    assert cache.pop("a") == b"1234" and cache.pop("a") is None and "a" not in cache
    assert cache.weight == 2
    cache.clear()
    assert (len(cache), cache.weight, cache.get("b")) == (0, 0, None)


@given(st.lists(st.tuples(st.integers(0, 8), st.integers(0, 6)), max_size=60))
def test_it_stays_within_both_bounds_and_holds_the_newest_that_fit(puts: list[tuple[int, int]]) -> None:
    cache: BoundedCache[int, int] = BoundedCache(4, max_weight=10, weigh=lambda value: value)
    expected: dict[int, int] = {}
    for key, weight in puts:
        cache.put(key, weight)
        expected.pop(key, None)
        expected[key] = weight
        while len(expected) > 4 or sum(expected.values()) > 10:
            del expected[next(iter(expected))]
        assert (len(cache), cache.weight) == (len(expected), sum(expected.values()))
    for key in range(9):
        assert cache.get(key) == expected.get(key)


def test_threads_do_not_lose_count_of_the_weight() -> None:
    cache: BoundedCache[int, bytes] = BoundedCache(50, weigh=len)

    def fill(first: int) -> None:
        for number in range(first, first + 2000):
            cache.put(number % 120, b"x" * (number % 7))
            cache.get((number * 31) % 120)
            if number % 5 == 0:
                cache.pop((number * 17) % 120)

    threads = [threading.Thread(target=fill, args=(start,)) for start in range(0, 8000, 2000)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    held = [value for key in range(120) if (value := cache.get(key)) is not None]
    assert len(held) == len(cache) <= 50
    assert cache.weight == sum(map(len, held))
