import hashlib
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from common.settings import Settings
from search.encoder import DIMENSIONS, TABLE, TABLE_SHA256, Encoder
from search.training import distill


def test_the_committed_table_is_the_one_that_is_named_and_installed() -> None:
    committed = (distill.MODEL / TABLE).read_bytes()
    assert hashlib.sha256(committed).hexdigest() == TABLE_SHA256
    assert (distill.MODEL / "model.sha256").read_text().split() == [TABLE_SHA256, TABLE]
    assert (Settings().encoder_dir / TABLE).read_bytes() == committed
    assert len(committed) <= 12_000_000


def test_discriminants_leave_out_what_pieces_of_one_meaning_differ_in(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of pairs with one meaning, a large difference within each pair is noise, however much of the variance it is."""
    rng = np.random.default_rng(3)
    monkeypatch.setattr(distill, "MEANING", slice(0, 2000))
    monkeypatch.setattr(distill, "SHRINKAGE", 0.1)
    meaning = np.repeat(rng.normal(size=(1000, DIMENSIONS)), 2, axis=0)
    language = 5 * rng.normal(size=(2000, 20))
    other = np.arange(2000) ^ 1
    axes = distill.discriminants(np.hstack([meaning, language]), other[:, None])
    assert axes.shape == (DIMENSIONS + 20, DIMENSIONS)
    np.testing.assert_allclose(axes.T @ axes, np.eye(DIMENSIONS), atol=1e-8)
    assert np.linalg.norm(axes[DIMENSIONS:]) < 0.1 * np.linalg.norm(axes[:DIMENSIONS])


def test_neighbours_are_the_nearest_of_those_that_are_listed() -> None:
    rng = np.random.default_rng(4)
    vectors, among = rng.normal(size=(2500, 8)), np.arange(1, 2500, 5)
    nearest, likeness = distill.neighbours(vectors, among)
    cosines = distill.unit(vectors) @ distill.unit(vectors)[among].T
    np.testing.assert_allclose(np.sort(likeness), np.sort(cosines)[:, -distill.NEIGHBOURS :])
    np.testing.assert_allclose(likeness, np.take_along_axis(cosines, nearest, axis=1))


def test_a_word_is_ruled_by_itself_and_a_translation_by_its_words() -> None:
    of_words = np.array([[3.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    itself, between = distill.translated(of_words, np.array([[0, 1], [1, 2]]), np.array([[1.0, 0.6], [0.7, 0.7]]))
    np.testing.assert_allclose(itself, [1, 0, 0], atol=0.01)
    np.testing.assert_allclose(between, [0, 0.5**0.5, 0.5**0.5])


def test_rarer_pieces_weigh_more() -> None:
    weights = distill.weights(np.array([0.5, 0.4, 0.09, 0.01]))
    assert (np.diff(weights) > 0).all()
    assert weights[-1] < 1


def test_spellings_of_a_piece_are_one_row() -> None:
    special = ["<unk>", "<s>", "</s>", "", ""]
    found = distill.folded([*special, "▁Tor", "tor", "TOR", "▁", ",", "⚽", "a-b"])
    assert found == {"tor": [5, 6, 7], ",": [9], "⚽": [10]}


def test_a_mean_goes_by_frequency() -> None:
    vectors = np.array([[1.0, 0.0], [0.0, 1.0], [5.0, 5.0]])
    mean = distill.mean_of_spellings(vectors, ["a", "b"], {"a": [0, 1], "b": [2]}, np.array([3.0, 1.0, 1.0]))
    np.testing.assert_allclose(mean[0] - mean[1], [0.75 - 5, 0.25 - 5])


def test_rows_are_kept_by_script_and_then_by_frequency(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(distill, "ROWS", 4)
    assert distill.rows_kept(["дом", "house", "집", "家", "いえ"]).tolist() == [0, 1, 3, 4]


def test_a_packed_table_is_read_as_it_was() -> None:
    vectors = np.random.default_rng(1).normal(size=(3, DIMENSIONS))
    read = Encoder.of(distill.packed(vectors, ["one", "two", "drei"]))
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    np.testing.assert_allclose(read.encode(["one", "Two", "drei"]), unit, atol=0.01)


def test_a_table_is_replaced_in_one_step(tmp_path: Path) -> None:
    """Who reads the former one goes on reading it, and one that could not be written leaves it as it was."""
    table = tmp_path / TABLE
    table.write_bytes(b"former")
    with table.open("rb", buffering=0) as reading:
        assert reading.read(3) == b"for"
        distill.store(b"new one", tmp_path)
        assert reading.read() == b"mer"
    program = (
        "import resource, signal, sys; from pathlib import Path; from search.training.distill import store\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN); resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
        "store(bytes(5000), Path(sys.argv[1]))"
    )
    full = subprocess.run([sys.executable, "-c", program, tmp_path], capture_output=True, text=True)
    assert "File too large" in full.stderr
    assert [(file.name, file.read_bytes()) for file in tmp_path.iterdir()] == [(TABLE, b"new one")]
