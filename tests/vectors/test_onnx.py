"""Models run by onnxruntime, where it is installed."""

import base64
import sys
from pathlib import Path

import numpy as np
import pytest

from codeplane.kernel.errors import EmbedderFailed
from codeplane.vectors.onnx import OnnxEmbedder
from tests.interaction.requirements import requirement
from tests.vectors.models import write_tokenizer

# A model of one node that looks up [[0, 0], [3, 4], [1, 0], [0, 2]] for each token, and one that wants pixels.
TINY = (
    "CAg67wEKLQoFdGFibGUKCWlucHV0X2lkcxIRbGFzdF9oaWRkZW5fc3RhdGUiBkdhdGhlchIEdGlueSovCAQIAhABQgV0YWJsZUogAAAAAAAAAAAAAEBA"
    "AACAQAAAgD8AAAAAAAAAAAAAAEBaJgoJaW5wdXRfaWRzEhkKFwgHEhMKBxIFYmF0Y2gKCBIGdG9rZW5zWisKDmF0dGVudGlvbl9tYXNrEhkKFwgHEhMK"
    "BxIFYmF0Y2gKCBIGdG9rZW5zYjIKEWxhc3RfaGlkZGVuX3N0YXRlEh0KGwgBEhcKBxIFYmF0Y2gKCBIGdG9rZW5zCgIIAkIECgAQDQ=="
)
PIXELS = (
    "CAg6gQEKGgoFdGFibGUKBnBpeGVscxIBeSIGR2F0aGVyEgVvdGhlciovCAQIAhABQgV0YWJsZUogAAAAAAAAAAAAAEBAAACAQAAAgD8AAAAAAAAAAAAA"
    "AEBaFQoGcGl4ZWxzEgsKCQgHEgUKAxIBbmIUCgF5Eg8KDQgBEgkKAxIBbgoCCAJCBAoAEA0="
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_tokenizer(tmp_path / "tokenizer.json")
    (tmp_path / "model.onnx").write_bytes(base64.b64decode(TINY))
    return tmp_path


@requirement("VEC-05")
def test_the_mean_of_the_tokens(folder: Path) -> None:
    pytest.importorskip("onnxruntime")
    model = OnnxEmbedder(folder)
    assert model.dimensions == 2
    assert folder.name in model.name
    rows = model.embed(["user", "user name", "", "unheard", "name \ud800"])
    assert np.allclose(rows, np.array([[0.6, 0.8], [0.5**0.5, 0.5**0.5], [0, 0], [0, 0], [1, 0]]))
    assert rows.dtype == np.float32


@requirement("VEC-05")
def test_another_kind_of_model_is_refused(folder: Path) -> None:
    pytest.importorskip("onnxruntime")
    (folder / "model.onnx").write_bytes(base64.b64decode(PIXELS))
    with pytest.raises(EmbedderFailed, match="pixels"):
        OnnxEmbedder(folder)


@requirement("VEC-05")
def test_a_broken_model_is_refused(folder: Path) -> None:
    pytest.importorskip("onnxruntime")
    (folder / "model.onnx").write_bytes(b"nothing")
    with pytest.raises(EmbedderFailed, match="cannot be loaded"):
        OnnxEmbedder(folder)


@requirement("VEC-05")
def test_a_missing_model_is_said(tmp_path: Path) -> None:
    with pytest.raises(EmbedderFailed, match=r"model\.onnx"):
        OnnxEmbedder(tmp_path)


def test_a_missing_runtime_is_said(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(EmbedderFailed, match="onnxruntime is not installed") as failed:
        OnnxEmbedder(folder)
    assert "pip install onnxruntime" in failed.value.hint
