from pathlib import Path

import numpy as np
from click.testing import CliRunner

from common.settings import Settings
from search.encoder import DIMENSIONS
from search.training import distill


def test_components_come_by_falling_variance_and_keep_distances() -> None:
    rng = np.random.default_rng(3)
    vectors = rng.normal(size=(1000, 20)) @ rng.normal(size=(20, 384)) + 5
    reduced = distill.principal_components(vectors)
    variance = reduced.var(axis=0)
    assert reduced.shape == (1000, DIMENSIONS)
    assert (np.diff(variance) < 1e-6).all()
    np.testing.assert_allclose(
        np.linalg.norm(reduced[0] - reduced[1]), np.linalg.norm(vectors[0] - vectors[1]), rtol=1e-6
    )


def test_rarer_words_weigh_more() -> None:
    tokens = np.array([1012, 1874, 1996, 2000, 9000, 30000])
    weights = distill.weights(tokens, [".", "人", "the", "to", "stadium", "anyone"])
    assert (np.diff(weights[2:]) > 0).all()
    assert weights[0] < weights[1] == 1.0


def test_what_is_there_is_not_made_again() -> None:
    result = CliRunner().invoke(distill.distill, ["--out", str(Settings().encoder_dir)])
    assert "up to date" in result.output


def test_another_recipe_is_not_valid(tmp_path: Path, monkeypatch) -> None:
    assert not distill.is_valid(tmp_path)
    folder = Settings().encoder_dir
    assert distill.is_valid(folder)
    monkeypatch.setattr(distill, "RECIPE", "2:other")
    assert not distill.is_valid(folder)
