"""Static word vectors: a text is the weighted sum of its words' vectors."""

import json
import re
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from codeplane.kernel.errors import EmbedderFailed
from codeplane.vectors.embedder import MAX_CHARACTERS, normalise
from codeplane.vectors.fingerprint import fingerprint
from codeplane.vectors.tensors import tensors

if TYPE_CHECKING:
    from tokenizers import Tokenizer

# The words of identifiers, by their humps and underscores: HTTPServer_name2 is HTTP, Server, name, 2. Bounded, because
# the long ones are keys and encoded data, not words.
_WORD = re.compile(r"[A-Z]?[^\W\d_A-Z]{1,32}|[A-Z]{1,32}(?![^\W\d_A-Z])|\d{1,8}")
# Spellings kept with their vectors, at a kilobyte each at most; Django has half as many.
_MAX_SPELLINGS = 49_152
_BATCH_CHARACTERS = 131_072
_WORDLLAMA_TOKENIZER = "tokenizers/l2_supercat_tokenizer_config.json"
_WORDLLAMA_WEIGHTS = "weights/l2_supercat_256.safetensors"
# Raised when the same text would get another vector than before.
_WORDLLAMA_REVISION = 1
_MODEL2VEC_REVISION = 1


class StaticVectors:
    """Embeds texts by word; each word is tokenised once and cached.

    A word that occurs n times weighs √n. Asked for Django's functions by their docstrings, that and the cutting raise
    the mean reciprocal rank from .23, with the plain average over all tokens, to .35.
    """

    def __init__(self, *, name: str, tokenizer_file: Path, matrix: NDArray[np.generic]) -> None:
        if matrix.ndim != 2 or not np.issubdtype(matrix.dtype, np.number):
            raise EmbedderFailed(f"the vectors of {name} are not a matrix", hint="name another model")
        self._name = name
        self._matrix = matrix
        self._tokenizer, self._unknown = _tokenizer(tokenizer_file)
        size = self._tokenizer.get_vocab_size(with_added_tokens=True)
        if size > len(matrix):
            raise EmbedderFailed(
                f"{name} has {size} tokens but {len(matrix)} vectors", hint="take both files from one release"
            )
        self._places: dict[str, int] = {}
        self._words = np.empty((1024, self.dimensions), np.float32)
        self._known = 0
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        """The model's name and version."""
        return self._name

    @property
    def dimensions(self) -> int:
        """The length of each vector."""
        return int(self._matrix.shape[1])

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed texts as rows of length one, or of zeros without a known word."""
        rows = np.zeros((len(texts), self.dimensions), np.float32)
        done = 0
        for batch in _batches(texts):
            with self._lock:
                self._sum(batch, rows[done : done + len(batch)])
            done += len(batch)
        return normalise(rows)

    def _sum(self, texts: Sequence[str], rows: NDArray[np.float32]) -> None:
        words_of_texts = [_WORD.findall(text, 0, MAX_CHARACTERS) for text in texts]
        self._learn(set().union(*words_of_texts))
        place = self._places.__getitem__
        counts = [Counter(map(place, words)) for words in words_of_texts]
        filled = [index for index, count in enumerate(counts) if count]
        if not filled:
            return
        words = np.fromiter(chain.from_iterable(counts), np.intp)
        weights = np.sqrt(np.fromiter(chain.from_iterable(count.values() for count in counts), np.float32))
        ends = np.cumsum([len(counts[index]) for index in filled])
        weighed = self._words[words]
        weighed *= weights[:, None]
        # Summed in the order of the words, for each text alone, so that the rest of the batch does not change any bit.
        rows[filled] = np.add.reduceat(weighed, np.concatenate(([0], ends[:-1])), axis=0)

    def _learn(self, spellings: set[str]) -> None:
        missing = [spelling for spelling in spellings if spelling not in self._places]
        if len(self._places) + len(missing) > _MAX_SPELLINGS:
            self._places, self._known, missing = {}, 0, list(spellings)
        lower = [spelling.lower() for spelling in missing]
        new = [word for word in dict.fromkeys(lower) if word not in self._places]
        if new:
            self._room(len(new))
            self._words[self._known : self._known + len(new)] = self._vectors(new)
            self._places.update(zip(new, range(self._known, self._known + len(new)), strict=True))
            self._known += len(new)
        # Every spelling of a word is that word: User, USER and user are counted together.
        self._places.update((spelling, self._places[word]) for spelling, word in zip(missing, lower, strict=True))

    def _room(self, more: int) -> None:
        if self._known + more > len(self._words):
            grown = np.empty((max(2 * len(self._words), self._known + more), self.dimensions), np.float32)
            grown[: self._known] = self._words[: self._known]
            self._words = grown

    def _vectors(self, words: Sequence[str]) -> NDArray[np.float32]:
        """The sum of the token vectors of each word."""
        # One sentence of many words rather than a batch: a batch would start threads of its own.
        encoding = self._tokenizer.encode(words, is_pretokenized=True, add_special_tokens=False)
        tokens = np.array(encoding.ids, np.intp)
        owners = np.array([-1 if word is None else word for word in encoding.word_ids], np.intp)
        known = (tokens != self._unknown) & (owners >= 0)
        tokens, owners = tokens[known], owners[known]
        vectors = np.zeros((len(words), self.dimensions), np.float32)
        if len(tokens):
            begins = np.flatnonzero(np.diff(owners, prepend=-1))
            vectors[owners[begins]] = np.add.reduceat(self._matrix[tokens].astype(np.float32), begins, axis=0)
        return vectors


def _batches(texts: Sequence[str]) -> Iterator[Sequence[str]]:
    begin, characters = 0, 0
    for index, text in enumerate(texts):
        length = min(len(text), MAX_CHARACTERS)
        if index > begin and characters + length > _BATCH_CHARACTERS:
            yield texts[begin:index]
            begin, characters = index, 0
        characters += length
    if begin < len(texts):
        yield texts[begin:]


def _tokenizer(path: Path) -> "tuple[Tokenizer, int]":
    """Load a tokenizer, with the id of its unknown token or -1."""
    try:
        status = path.stat()
        return _parsed_tokenizer(path, status.st_mtime_ns, status.st_size)
    except Exception as error:  # the library raises bare Exception for a file it cannot read
        raise EmbedderFailed(
            f"{path.name} is not a tokenizer: {error}", hint="put the model's files in their place again"
        ) from error


# Each workspace has a model of its own, but nothing is ever changed in a tokenizer.
@lru_cache(maxsize=2)
def _parsed_tokenizer(path: Path, _mtime_ns: int, _size: int) -> "tuple[Tokenizer, int]":
    from tokenizers import Tokenizer

    text = path.read_text(encoding="utf-8")
    tokenizer = Tokenizer.from_str(text)
    model = json.loads(text)["model"]
    tokenizer.no_padding()
    tokenizer.no_truncation()
    unknown = model.get("unk_id") if model.get("unk_token") is None else tokenizer.token_to_id(model["unk_token"])
    return tokenizer, -1 if unknown is None else unknown


def load_model2vec(folder: Path) -> StaticVectors:
    """Load `model.safetensors` and `tokenizer.json` from a folder; nothing is downloaded."""
    weights, tokenizer = folder / "model.safetensors", folder / "tokenizer.json"
    arrays = tensors(weights)
    if "embeddings" not in arrays:
        raise EmbedderFailed(
            f"{folder.name} holds no Model2Vec model", hint="name a folder that StaticModel.save_pretrained wrote"
        )
    return StaticVectors(
        name=f"model2vec {folder.name} {fingerprint(weights, tokenizer)} r{_MODEL2VEC_REVISION}",
        tokenizer_file=tokenizer,
        matrix=_matrix(folder, arrays),
    )


def wordllama_tokenizer() -> "Tokenizer":
    """Return the tokenizer that comes with WordLlama."""
    return _tokenizer(_wordllama()[0] / _WORDLLAMA_TOKENIZER)[0]


def load_wordllama() -> StaticVectors:
    """Load the model without importing the package, which is slow and may use the network."""
    folder, release = _wordllama()
    weights = tensors(folder / _WORDLLAMA_WEIGHTS).get("embedding.weight")
    if weights is None:
        raise EmbedderFailed(f"WordLlama {release} has no vectors where they were", hint="pip install 'wordllama<0.5'")
    matrix = weights[:, :256]
    return StaticVectors(
        name=f"wordllama-{matrix.shape[1]} {release} r{_WORDLLAMA_REVISION}",
        tokenizer_file=folder / _WORDLLAMA_TOKENIZER,
        matrix=matrix,
    )


def _wordllama() -> tuple[Path, str]:
    """The folder and the release of the installed package."""
    try:
        spec, release = find_spec("wordllama"), version("wordllama")
    except PackageNotFoundError:
        spec, release = None, ""
    if spec is None or not spec.submodule_search_locations:
        raise EmbedderFailed("WordLlama is not installed", hint="pip install wordllama, then: cpl down && cpl up")
    return Path(next(iter(spec.submodule_search_locations))), release


def _matrix(folder: Path, arrays: dict[str, NDArray[np.generic]]) -> NDArray[np.generic]:
    """The row of each token; newer models share rows between tokens and store weights apart."""
    matrix = arrays["embeddings"]
    mapping, weights = arrays.get("mapping"), arrays.get("weights")
    try:
        if mapping is not None:
            matrix = matrix[mapping.astype(np.intp)]
        if weights is not None:
            matrix = matrix.astype(np.float32) * weights.astype(np.float32)[:, None]
    except (IndexError, ValueError) as error:
        raise EmbedderFailed(
            f"the arrays of {folder.name} do not fit each other: {error}", hint="save the model again"
        ) from error
    return matrix
