"""Sentence transformers such as MiniLM, run by onnxruntime from a local folder."""

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from codeplane.kernel.errors import EmbedderFailed
from codeplane.vectors.embedder import clip_text, normalise
from codeplane.vectors.fingerprint import fingerprint

if TYPE_CHECKING:
    from tokenizers import Tokenizer

_MAX_TOKENS = 256
# Raised when the same text would get another vector than before.
_REVISION = 1


class _Argument(Protocol):
    name: str
    shape: Sequence[int | str | None]


class _Session(Protocol):
    """The part of onnxruntime's API in use; it need not be installed."""

    def get_inputs(self) -> Sequence[_Argument]: ...

    def get_outputs(self) -> Sequence[_Argument]: ...

    def run(self, outputs: None, inputs: dict[str, NDArray[np.int64]]) -> Sequence[NDArray[np.float32]]: ...


class OnnxEmbedder:
    """Embeds with `model.onnx` and `tokenizer.json`: the mean of the token vectors.

    One text at a time and one thread: padding to a batch's longest text would change the last bits of the others, and
    this fills in behind at low priority.
    """

    def __init__(self, folder: Path) -> None:
        weights, tokenizer = folder / "model.onnx", folder / "tokenizer.json"
        self._name = f"onnx {folder.name} {fingerprint(weights, tokenizer)} r{_REVISION}"
        self._session = _session(weights)
        self._tokenizer = _tokenizer(tokenizer)
        self._inputs = {entry.name for entry in self._session.get_inputs()}
        if not self._inputs <= {"input_ids", "attention_mask", "token_type_ids"}:
            raise EmbedderFailed(f"{folder.name} asks for {', '.join(sorted(self._inputs))}", hint="name a text model")
        shape = self._session.get_outputs()[0].shape
        last = shape[2] if len(shape) == 3 else None
        if not isinstance(last, int):
            raise EmbedderFailed(f"{folder.name} does not say a vector for each token", hint="name another export")
        self._dimensions = last

    @property
    def name(self) -> str:
        """The model and its files' fingerprint."""
        return self._name

    @property
    def dimensions(self) -> int:
        """The length of each vector."""
        return self._dimensions

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed texts as rows of length one, or of zeros for blank text."""
        rows = np.zeros((len(texts), self._dimensions), np.float32)
        for row, text in zip(rows, texts, strict=True):
            if text.strip():
                row[:] = self._mean(text)
        return normalise(rows)

    def _mean(self, text: str) -> NDArray[np.float32]:
        ids = np.array([self._tokenizer.encode(clip_text(text)).ids], np.int64)
        if not ids.size:
            return np.zeros(self._dimensions, np.float32)
        given = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        try:
            answer = self._session.run(None, {name: given[name] for name in self._inputs})[0]
        except Exception as error:  # onnxruntime's own exceptions share no class but this
            raise EmbedderFailed(f"{self._name} cannot be run: {error}") from error
        mean: NDArray[np.float32] = np.asarray(answer, np.float32)[0].mean(axis=0)
        return mean


def _session(path: Path) -> _Session:
    try:
        runtime = import_module("onnxruntime")
    except ImportError as error:
        raise EmbedderFailed(
            "onnxruntime is not installed", hint="pip install onnxruntime, or name no ONNX model"
        ) from error
    options = runtime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.use_deterministic_compute = True
    try:
        session: _Session = runtime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime's own exceptions share no class but this
        raise EmbedderFailed(
            f"{path.name} cannot be loaded: {error}", hint="name a folder with a model.onnx"
        ) from error
    return session


def _tokenizer(path: Path) -> "Tokenizer":
    from tokenizers import Tokenizer

    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # the library raises bare Exception for a file it cannot read
        raise EmbedderFailed(f"{path.name} is not a tokenizer: {error}", hint="put the model's files back") from error
    tokenizer.no_padding()
    tokenizer.enable_truncation(_MAX_TOKENS)
    return tokenizer
