"""Sentences to vectors by a static model: a vector per piece of text, summed and normalised.

The table, in `model/` beside this file, is made by `training/distill.py`.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
from safetensors.numpy import load
from scipy.sparse import csr_matrix

DIMENSIONS = 128
"""Precision at 10 by the development half of `training/yardstick`, mean of the languages beside English: 96 lose 0.04
of 0.48; 160 bring 0.01, 256 0.02, for as much more of disk, memory and time in the index."""

TABLE = "model.safetensors"
TABLE_SHA256 = "72d557afe979c7b935effcae306a2f045b4f6e50c5056bbbcfd5eccd3e66646a"
"""Of this release's table, as `make encoder` prints it: an index of another table's vectors is made anew."""

CACHED_WORDS = 100_000
LONGEST_WORD, LONGEST_RUN = 64, 512
"""In characters. A longer 'word' is cut into such ones: it is text of a script without spaces, or a run of letters, of
which LONGEST_RUN tell enough."""

HASHED_ROWS = 4096
HASHED_WEIGHT = 0.5
"""Length of a random direction beside that of a typical piece: enough to tell texts apart, not to rule them."""

# A word is letters, digits and the vowel signs of scripts that have them; a symbol, such as an emoji, stands by itself.
# Punctuation tells nothing, nor does what only modifies a symbol.
_SIGNS = "\u0300-\u036f\u0591-\u05bd\u0610-\u065f\u0900-\u109f\u1700-\u1aff\ua800-\uabff"
_PART = re.compile(rf"[^\W_]+(?:[{_SIGNS}]+[^\W_]*)*|[^\w\s\x00-\xbf\u2000-\u206f\u3000-\u303f\ufe0f]")
_AROUND = ".,:;!?\"'#()"
_ACCENT = re.compile("[\u0300-\u036f]")
_HUMP = re.compile(r"(?<=[^\W\d_A-ZÀ-Þ])(?=[A-ZÀ-Þ])")


class Encoder:
    """Static text encoder. A piece's vector already carries its weight, so a sentence is the plain sum of its pieces.

    A word that is no piece is cut into pieces. What has none at all (a rare emoji or script) gets one of HASHED_ROWS
    fixed random directions, so that texts of such words differ from each other and are found by their own words.
    """

    def __init__(self, table: np.ndarray, pieces: Sequence[str]) -> None:
        """`table`: (n, dimensions) weighted vectors, a piece of text each; pieces are case-folded NFKC."""
        rng = np.random.default_rng(20_22)
        hashed = rng.normal(size=(HASHED_ROWS, table.shape[1])).astype(np.float32)
        typical = np.median(np.linalg.norm(table, axis=1))
        hashed *= HASHED_WEIGHT * typical / np.linalg.norm(hashed, axis=1, keepdims=True)
        self._table = np.vstack([table.astype(np.float32), hashed])
        self._words = _Words(pieces)
        self.words = 0
        """How many were looked up so far; about, if threads share the encoder."""

    @property
    def found_out(self) -> int:
        """How many of them had to be found out: the others were among the last CACHED_WORDS different ones."""
        return self._words.found_out

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Reads this release's table. FileNotFoundError, or ValueError if it is another one, names the remedy."""
        try:
            content = (folder / TABLE).read_bytes()
        except FileNotFoundError as error:
            raise FileNotFoundError(f"no text encoder in {folder}: `make setup` puts it there") from error
        if hashlib.sha256(content).hexdigest() != TABLE_SHA256:
            raise ValueError(f"the text encoder in {folder} is not this release's: `make setup` renews it")
        return cls.of(content)

    @classmethod
    def of(cls, content: bytes) -> Self:
        """The encoder of a table's file."""
        tensors = load(content)
        vectors = tensors["vectors"] * tensors["scales"].astype(np.float32)[:, None]
        return cls(vectors, tensors["pieces"].tobytes().decode().split("\n"))

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """Clean texts → (n, DIMENSIONS) float32 unit vectors; of no piece, the last axis, far from others."""
        rows = self._words.__getitem__
        words = [text.split() for text in texts]
        of_texts = [b"".join(map(rows, of_text)) for of_text in words]
        self.words += sum(map(len, words))
        pieces = np.frombuffer(b"".join(of_texts), np.int32)
        ends = np.cumsum([0, *map(len, of_texts)], dtype=np.int32) // pieces.itemsize
        pooling = csr_matrix((np.ones(len(pieces), np.float32), pieces, ends), shape=(len(texts), len(self._table)))
        vectors = pooling @ self._table
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        vectors[norms[:, 0] < 1e-6, -1] = 1.0
        norms[norms < 1e-6] = 1.0
        unit: np.ndarray = vectors / norms
        return unit


class _Words(dict[str, bytes]):
    """Rows of the table, as memory (int32), by whitespace-separated word; found out when they are first asked for.

    In real tweets every fourth word is new, so that is much of the encoder's work: some look-ups here, where calling a
    tokeniser takes several times as long. Threads may find out the same word twice, to no harm.
    """

    def __init__(self, pieces: Sequence[str]) -> None:
        super().__init__()
        self.found_out = 0
        rows = {piece: np.int32(row).tobytes() for row, piece in enumerate(pieces)}
        for piece in pieces:
            if not piece.isascii() and max(piece) < "\u0250":  # as who writes without accents spells it
                rows.setdefault(_ACCENT.sub("", unicodedata.normalize("NFD", piece)), rows[piece])
        self._trie = _trie(rows)
        self._hashed = [np.int32(len(pieces) + number).tobytes() for number in range(HASHED_ROWS)]

    def __missing__(self, word: str) -> bytes:
        if len(word) > LONGEST_WORD:
            run = word[:LONGEST_RUN]
            return b"".join([self[run[at:at + LONGEST_WORD]] for at in range(0, len(run), LONGEST_WORD)])
        if len(self) >= CACHED_WORDS:
            self.clear()
        self.found_out += 1
        normal = unicodedata.normalize("NFKC", word)
        bare = normal.strip(_AROUND)
        part = bare.casefold()
        if bare.isalpha() and bare[1:] == part[1:]:  # most are: no humps, nothing but letters
            found = self._cut(part)
        else:
            parts = _PART.findall(_HUMP.sub(" ", normal))  # #ClimateCrisis is two
            found = b"".join([self._cut(each.casefold()) for each in parts])
        self[word] = found
        return found

    def _cut(self, part: str) -> bytes:
        """The longest piece that begins the word, then the longest that begins its rest, and so on."""
        rows, rest = [], part
        while rest:
            node = self._trie
            for character in rest:
                if character not in node:
                    break
                node = node[character]
            row, length = node[""]
            rows.append(row)
            rest = rest[length:]
        return b"".join(rows) or self._hashed[zlib.crc32(part.encode("utf-8", "replace")) % HASHED_ROWS]


def _trie(rows: Mapping[str, bytes]) -> dict[str, Any]:
    """A node by a text's first character, from there by its second, and so on; "" is no character: there a node has row
    and length of the longest piece on the way to it. Where none is, one character is passed over.
    """
    trie: dict[str, Any] = {"": (b"", 1)}
    for piece in sorted(rows, key=len):  # so that what a new node takes over is final
        node = trie
        for character in piece:
            node = node.setdefault(character, {"": node[""]})
        node[""] = rows[piece], len(piece)
    return trie
