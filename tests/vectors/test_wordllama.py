"""The default model: what it finds, and that the same text is always the same vector."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeplane.vectors.embedder import MAX_CHARACTERS, Embedder
from codeplane.vectors.static_vectors import load_wordllama
from tests.interaction.requirements import requirement

MODEL = load_wordllama()
AGAIN = load_wordllama()
TEXTS = ["def getUserName(self): ...", "", "class HTTPServer", "日本語 naïve", "?!", "x" * 10_000]


@requirement("VEC-01")
def test_says_who_it_is() -> None:
    embedder: Embedder = MODEL
    assert embedder.name.startswith("wordllama-256 0.")
    assert embedder.dimensions == 256


@requirement("VEC-01")
def test_rows_have_length_one_or_zero() -> None:
    rows = MODEL.embed(TEXTS)
    assert rows.dtype == np.float32
    assert np.allclose(np.linalg.norm(rows, axis=1), [1, 0, 1, 1, 0, 1], atol=1e-6)


@requirement("VEC-01")
def test_no_texts_are_no_rows() -> None:
    assert MODEL.embed([]).shape == (0, 256)


@requirement("VEC-01")
@pytest.mark.parametrize(
    ("query", "right", "wrong"),
    [
        ("delete a user account", "def removeUser(self, account_id):", "def render_template(self, html):"),
        ("parse the configuration file", "def load_settings(path): return yaml.parse(path)", "def send_mail(to): ..."),
        ("http server", "class HTTPServer(TCPServer):", "class ImageField(FileField):"),
    ],
)
def test_code_is_found_by_what_it_is_about(query: str, right: str, wrong: str) -> None:
    asked, good, bad = MODEL.embed([query, right, wrong])
    assert asked @ good > asked @ bad + 0.1


@pytest.mark.parametrize("spelling", ["user_name", "userName", "UserName", "USER_NAME", "user-name", "user.name()"])
def test_identifiers_are_their_words(spelling: str) -> None:
    assert np.array_equal(MODEL.embed([spelling]), MODEL.embed(["user name"]))


def test_an_acronym_ends_where_the_next_word_begins() -> None:
    assert np.array_equal(MODEL.embed(["HTTPServer2"]), MODEL.embed(["http server 2"]))


@given(st.lists(st.text(max_size=60), min_size=1, max_size=8))
def test_a_vector_depends_on_its_text_alone(texts: list[str]) -> None:
    together = MODEL.embed(texts)
    assert np.array_equal(together, np.concatenate([MODEL.embed([text]) for text in texts]))
    assert np.array_equal(together, AGAIN.embed(texts[::-1])[::-1])


def test_forgetting_words_changes_nothing() -> None:
    """More distinct words than are remembered."""
    first = MODEL.embed(["parse the request"])
    letters = "abcdefghijklmnopqrstuvwxyz"
    for a in letters:
        MODEL.embed([" ".join(f"{a}{b}{c}{d}" for b in letters for c in letters) for d in "xyz"])
    assert np.array_equal(MODEL.embed(["parse the request"]), first)


def test_only_the_beginning_of_a_text_is_read() -> None:
    text = "user " * (MAX_CHARACTERS // 5) + "  "
    assert np.array_equal(MODEL.embed([text + "server"]), MODEL.embed([text]))


def test_threads_get_what_one_gets() -> None:
    texts = [f"def function_{number}(request, argument{number}): return parse{number}" for number in range(200)]
    alone = load_wordllama().embed(texts)
    shared = load_wordllama()
    with ThreadPoolExecutor(4) as pool:
        for rows in pool.map(lambda _: shared.embed(texts), range(8)):
            assert np.array_equal(rows, alone)


def test_another_process_gets_the_same_bits_and_imports_no_loader() -> None:
    program = (
        "import hashlib, sys; from codeplane.vectors.static_vectors import load_wordllama;"
        "print(hashlib.sha256(load_wordllama().embed(['def getUserName(self): ...']).tobytes()).hexdigest());"
        "print(sorted({'wordllama', 'safetensors', 'requests', 'huggingface_hub'} & sys.modules.keys()))"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, check=True, env={"PYTHONHASHSEED": seed}
        ).stdout
        for seed in ("1", "2")
    }
    assert len(outputs) == 1
    assert outputs.pop().splitlines()[1] == "[]"
