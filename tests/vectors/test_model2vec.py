"""Static models from a folder."""

import os
from pathlib import Path

import numpy as np
import pytest

from codeplane.kernel.errors import EmbedderFailed
from codeplane.vectors.static_vectors import load_model2vec
from tests.interaction.requirements import requirement
from tests.vectors.models import write_tensors, write_tokenizer

VECTORS = np.array([[9, 9], [3, 4], [1, 0], [0, 2]], np.float32)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_tokenizer(tmp_path / "tokenizer.json")
    write_tensors(tmp_path / "model.safetensors", embeddings=VECTORS)
    return tmp_path


@requirement("VEC-05")
def test_words_add_up(folder: Path) -> None:
    rows = load_model2vec(folder).embed(["user", "userName", "name name name name parse", "unheard of", ""])
    expected = np.array([[0.6, 0.8], [4 / 32**0.5, 4 / 32**0.5], [2 / 8**0.5, 2 / 8**0.5], [0, 0], [0, 0]])
    assert np.allclose(rows, expected)


@requirement("VEC-05")
def test_unknown_words_do_not_count(folder: Path) -> None:
    model = load_model2vec(folder)
    assert np.array_equal(model.embed(["unheard user of"]), model.embed(["user"]))


@requirement("VEC-05")
def test_half_precision(folder: Path) -> None:
    expected = load_model2vec(folder).embed(["user name"])
    write_tensors(folder / "model.safetensors", embeddings=VECTORS.astype(np.float16))
    assert np.allclose(load_model2vec(folder).embed(["user name"]), expected)


@requirement("VEC-05")
def test_shared_rows_and_weights(folder: Path) -> None:
    write_tensors(
        folder / "model.safetensors",
        embeddings=np.array([[0, 1], [1, 0]], np.float32),
        mapping=np.array([0, 0, 1, 1], np.int64),
        weights=np.array([1, 3, 4, 1], np.float32),
    )
    assert np.allclose(load_model2vec(folder).embed(["user name"]), [[0.8, 0.6]])


def test_the_name_changes_with_the_files(folder: Path) -> None:
    before = load_model2vec(folder).name
    assert load_model2vec(folder).name == before
    write_tensors(folder / "model.safetensors", embeddings=VECTORS * 2)
    assert load_model2vec(folder).name != before


def test_a_tokenizer_that_was_replaced_is_read_again(folder: Path) -> None:
    tokenizer = folder / "tokenizer.json"
    before = load_model2vec(folder).embed(["user"])
    tokenizer.write_text(tokenizer.read_text().replace('"user": 1, "name": 2', '"name": 1, "user": 2'))
    # Of the same length, and in the same moment where clocks are coarse.
    os.utime(tokenizer, (0, 0))
    assert np.array_equal(load_model2vec(folder).embed(["name"]), before)


def test_a_missing_folder_is_said(tmp_path: Path) -> None:
    with pytest.raises(EmbedderFailed, match=r"model\.safetensors"):
        load_model2vec(tmp_path / "nowhere")


def test_a_missing_tokenizer_is_said(folder: Path) -> None:
    (folder / "tokenizer.json").unlink()
    with pytest.raises(EmbedderFailed, match=r"tokenizer\.json"):
        load_model2vec(folder)


def test_a_broken_tokenizer_is_said(folder: Path) -> None:
    (folder / "tokenizer.json").write_text("{}")
    with pytest.raises(EmbedderFailed, match="not a tokenizer"):
        load_model2vec(folder)


def test_other_tensors_are_refused(folder: Path) -> None:
    write_tensors(folder / "model.safetensors", other=VECTORS)
    with pytest.raises(EmbedderFailed, match="no Model2Vec model"):
        load_model2vec(folder)


def test_fewer_vectors_than_tokens_are_refused(folder: Path) -> None:
    write_tensors(folder / "model.safetensors", embeddings=VECTORS[:3])
    with pytest.raises(EmbedderFailed, match="4 tokens but 3 vectors"):
        load_model2vec(folder)


def test_arrays_that_do_not_fit_are_refused(folder: Path) -> None:
    write_tensors(folder / "model.safetensors", embeddings=VECTORS, mapping=np.array([0, 1, 2, 7], np.int64))
    with pytest.raises(EmbedderFailed, match="do not fit"):
        load_model2vec(folder)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"short",
        b"\xff" * 100,
        b"\x02" + bytes(7) + b"[]",
        b"\x04" + bytes(7) + b"{{{{",
        b'\x45\0\0\0\0\0\0\0{"embeddings":{"dtype":"F32","shape":[4,2],"data_offsets":[0,999]}} ',
        b'\x44\0\0\0\0\0\0\0{"embeddings":{"dtype":"F32","shape":[9,9],"data_offsets":[0,4]}}   abcd',
        b'\x44\0\0\0\0\0\0\0{"embeddings":{"dtype":"U16","shape":[2,1],"data_offsets":[0,4]}}   abcd',
        b'\x44\0\0\0\0\0\0\0{"embeddings":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}}    abcd',
    ],
)
def test_broken_tensors_are_refused(folder: Path, content: bytes) -> None:
    (folder / "model.safetensors").write_bytes(content)
    with pytest.raises(EmbedderFailed, match="not a file of vectors"):
        load_model2vec(folder)
