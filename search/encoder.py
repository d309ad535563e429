"""Sentences to vectors by a static model: a vector per token, pooled and normalised. `distill.py` makes the model."""

from __future__ import annotations

import re
import unicodedata
import zlib
from array import array
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Self

import numpy as np
from safetensors.numpy import load_file
from scipy.sparse import csr_matrix
from tokenizers import Tokenizer

DIMENSIONS = 96
"""Precision at 10 (`quality.py`, 28 queries) is 0.718. 128 bring 0.007 ± 0.019 for 1.6 µs more of a tweet's 104 of CPU,
and half as much again on disk; 64 lose 0.036 ± 0.021."""

TABLE, TOKENIZER = "model.safetensors", "tokenizer.json"
CACHED_WORDS = 100_000
LONGEST_WORD = 64
"""A longer 'word' is cut: it is a run of letters, or text of a script without spaces, of which 64 tell enough."""

HASHED_ROWS = 4096
HASHED_WEIGHT = 0.5
"""Length of a random direction beside that of a typical token: enough to tell texts apart, not to rule them."""

_SYMBOL = re.compile(r"([^\w\s]|\s)")


class Encoder:
    """Static text encoder. A token's vector already carries its weight, so a sentence is the plain sum of its tokens.

    A word that the vocabulary lacks (an emoji, a rare script) gets one of HASHED_ROWS fixed random directions, so that
    texts of such words differ from each other and are found by their own words.
    """

    def __init__(self, table: np.ndarray, tokenizer: Tokenizer) -> None:
        """`table`: (tokens, DIMENSIONS) weighted vectors by token id."""
        rng = np.random.default_rng(20_22)
        hashed = rng.normal(size=(HASHED_ROWS, DIMENSIONS)).astype(np.float32)
        norms = np.linalg.norm(table.astype(np.float32), axis=1)
        hashed *= HASHED_WEIGHT * np.median(norms[norms > 0]) / np.linalg.norm(hashed, axis=1, keepdims=True)
        self._table = np.vstack([table.astype(np.float32), hashed])
        self._first_hashed = len(table)
        self._tokenizer = tokenizer
        self._unknown = tokenizer.token_to_id("[UNK]")
        self._words = _Words(self._rows)
        self.words = 0
        """How many were looked up so far; about, if threads share the encoder."""

    @property
    def found_out(self) -> int:
        """For how many of them the tokeniser was asked: the others were among the last CACHED_WORDS different ones."""
        return self._words.found_out

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Reads what `distill` made; FileNotFoundError names the remedy."""
        if not (folder / TABLE).exists():
            raise FileNotFoundError(f"no text encoder in {folder}: make it with `python -m search.training.distill`")
        tokenizer = Tokenizer.from_file(str(folder / TOKENIZER))
        tokenizer.no_truncation()
        tokenizer.no_padding()
        return cls(load_file(folder / TABLE)["embeddings"], tokenizer)

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """Clean texts → (n, DIMENSIONS) float32 unit vectors; of no token, the last axis, far from others."""
        rows = self._words.__getitem__
        words = [text.split() for text in texts]
        of_texts = [b"".join(map(rows, of_text)) for of_text in words]
        self.words += sum(map(len, words))
        tokens = np.frombuffer(b"".join(of_texts), np.int32)
        ends = np.cumsum([0, *map(len, of_texts)], dtype=np.int32) // tokens.itemsize
        pooling = csr_matrix((np.ones(len(tokens), np.float32), tokens, ends), shape=(len(texts), len(self._table)))
        vectors = pooling @ self._table
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        vectors[norms[:, 0] < 1e-6, -1] = 1.0
        norms[norms < 1e-6] = 1.0
        unit: np.ndarray = vectors / norms
        return unit

    def _rows(self, word: str) -> Iterable[int]:
        # BERT's pre-tokeniser splits at punctuation but leaves emoji glued to letters, which makes all of it unknown.
        pieces = [word] if word.isascii() else [piece for piece in _SYMBOL.split(word) if piece.strip()]
        for piece in pieces:
            tokens = self._tokenizer.encode(piece, add_special_tokens=False).ids
            if self._unknown in tokens:
                folded = unicodedata.normalize("NFKC", piece).casefold()
                yield self._first_hashed + zlib.crc32(folded.encode("utf-8", "replace")) % HASHED_ROWS
            yield from (token for token in tokens if token != self._unknown)


class _Words(dict[str, bytes]):
    """Rows of the table, as memory (int32), by whitespace-separated word; found out when they are first asked for.

    Threads may find out the same word twice, to no harm.
    """

    def __init__(self, rows: Callable[[str], Iterable[int]]) -> None:
        super().__init__()
        self._rows = rows
        self.found_out = 0

    def __missing__(self, word: str) -> bytes:
        if len(word) > LONGEST_WORD:
            return self[word[:LONGEST_WORD]]
        if len(self) >= CACHED_WORDS:
            self.clear()
        self.found_out += 1
        found = self[word] = array("i", self._rows(word)).tobytes()
        return found
