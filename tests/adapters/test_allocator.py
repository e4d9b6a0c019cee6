"""Threads share a heap where the C library lets them, and its holes are given back."""

import subprocess
import sys

import pytest

from tests.interaction.requirements import requirement

# A second thread takes memory that is too small to be mapped by itself; the heaps there are stand in what is told.
_PROGRAM = """
import ctypes, sys, tempfile, threading
from codeplane.adapters.allocator import share_one_arena
if "shared" in sys.argv: assert share_one_arena()
c = ctypes.CDLL(None)
c.malloc.restype = ctypes.c_void_p
held = threading.Event()
def take():
    for _ in range(100): assert c.malloc(50_000)
    held.set()
thread = threading.Thread(target=take); thread.start(); thread.join()
c.fopen.restype = ctypes.c_void_p
with tempfile.NamedTemporaryFile() as file:
    opened = ctypes.c_void_p(c.fopen(file.name.encode(), b"w"))
    c.malloc_info(0, opened); c.fclose(opened)
    print(file.read().count(b"<heap nr="))
"""


@requirement("IDX-10b")
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only glibc has heaps for threads")
def test_threads_share_one_heap() -> None:
    heaps = {
        arguments: int(subprocess.check_output([sys.executable, "-c", _PROGRAM, *arguments], text=True))
        for arguments in ((), ("shared",))
    }
    assert heaps == {(): 2, ("shared",): 1}


# Of many small pieces every second one is freed: none of that is at the heap's end.
_HOLES = """
import ctypes
from codeplane.adapters.allocator import HeapTrim
from codeplane.observe.status import resident_bytes
c = ctypes.CDLL(None)
c.malloc.restype = ctypes.c_void_p
c.free.argtypes = [ctypes.c_void_p]
heap = HeapTrim(resident_bytes)
heap.run()
def leave_holes():
    pieces = []
    for _ in range(4_000):
        pieces.append(c.malloc(20_000))
        ctypes.memset(ctypes.c_void_p(pieces[-1]), 1, 20_000)
    for piece in pieces[::2]: c.free(piece)
leave_holes()
full = resident_bytes()
print(heap.run(), full - resident_bytes() > 30_000_000, heap.run())
"""


@requirement("IDX-10b")
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only glibc gives back holes")
def test_holes_in_the_heap_are_given_back_once_it_has_grown() -> None:
    assert subprocess.check_output([sys.executable, "-c", _HOLES], text=True).split() == ["True", "True", "False"]
