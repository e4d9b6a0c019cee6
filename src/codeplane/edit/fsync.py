"""Syncs many files and folders to disk at the same time, also for several transactions at once."""

import os
import time
from collections.abc import Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import TypeVar

T = TypeVar("T")
# Work that yields descriptors it needs synced before it goes on.
Transaction = Generator[Sequence[int], None, T]
_SHARES = 4
# So few are synced one after another.
_FEW = 2
# A disk that syncs faster is done before another thread has started.
_QUICK_NS = 100_000


class Fsync:
    """Sync many descriptors in threads that are kept, since starting one costs more than a sync."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(max_workers=_SHARES - 1, thread_name_prefix="journal")

    def sync(self, descriptors: Sequence[int]) -> None:
        """Sync all descriptors; raises the first error."""
        for error in self._sync_each(descriptors).values():
            raise error

    def run(self, transaction: Transaction[T]) -> T:
        """Run one transaction to its end."""
        (outcome,) = self.run_together([transaction])
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome

    def run_together(self, transactions: Sequence[Transaction[T]]) -> list[T | BaseException]:
        """Run transactions to their ends, syncing for all of them at once; the error of one stops no other."""
        outcomes: dict[int, T | BaseException] = {}
        # Those under way, and the error of the sync that each waited for.
        waiting: dict[int, OSError | None] = dict.fromkeys(range(len(transactions)))
        while waiting:
            needed: dict[int, Sequence[int]] = {}
            for number, error in waiting.items():
                transaction = transactions[number]
                try:
                    needed[number] = next(transaction) if error is None else transaction.throw(error)
                except StopIteration as ended:
                    outcomes[number] = ended.value
                except BaseException as raised:
                    outcomes[number] = raised
            errors = self._sync_each([descriptor for each in needed.values() for descriptor in each])
            waiting = {
                number: next((errors[descriptor] for descriptor in each if descriptor in errors), None)
                for number, each in needed.items()
            }
        return [outcomes[number] for number in range(len(transactions))]

    def _sync_each(self, descriptors: Sequence[int]) -> dict[int, OSError]:
        """Sync all descriptors and return the errors of those that failed; a disk reports a loss only once."""
        same = _same_files(descriptors)
        left = list(same)
        errors: dict[int, OSError] = {}
        while len(left) > _FEW:
            started = time.perf_counter_ns()
            errors |= _sync_all([left.pop()])
            if time.perf_counter_ns() - started >= _QUICK_NS:
                errors |= self._sync_in_threads(left)
                left = []
        errors |= _sync_all(left)
        return {descriptor: error for first, error in errors.items() for descriptor in same[first]}

    def _sync_in_threads(self, descriptors: Sequence[int]) -> dict[int, OSError]:
        # A share for each thread: handing over single descriptors costs more than most syncs.
        shares = [descriptors[start::_SHARES] for start in range(min(_SHARES, len(descriptors)))]
        others = [self._threads.submit(_sync_all, share) for share in shares[1:]]
        errors = _sync_all(shares[0])
        for other in others:
            errors |= other.result()
        return errors


def start_writeback(descriptor: int) -> None:
    """Ask the disk to start writing a file that will be synced later."""
    if hasattr(os, "posix_fadvise"):
        with suppress(OSError):
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)


def _same_files(descriptors: Sequence[int]) -> dict[int, list[int]]:
    """The descriptors of each file by the first of them: transactions that run together share folders."""
    firsts: dict[tuple[int, int], int] = {}
    same: dict[int, list[int]] = {}
    for descriptor in descriptors:
        status = os.fstat(descriptor)
        first = firsts.setdefault((status.st_dev, status.st_ino), descriptor)
        same.setdefault(first, []).append(descriptor)
    return same


def _sync_all(descriptors: Sequence[int]) -> dict[int, OSError]:
    errors: dict[int, OSError] = {}
    for descriptor in descriptors:
        try:
            os.fsync(descriptor)
        except OSError as error:
            errors[descriptor] = error
    return errors
