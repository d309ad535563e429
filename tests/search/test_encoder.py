from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from common.settings import Settings
from search.encoder import CACHED_WORDS, DIMENSIONS, TABLE, Encoder
from search.training.quality import LEAST, english_v1, precisions, six_languages


def similarity(encoder: Encoder, one: str, other: str) -> float:
    first, second = encoder.encode([one, other])
    return float(first @ second)


def test_vectors_are_unit_float32(encoder: Encoder) -> None:
    vectors = encoder.encode(["Storm warning for the coast", "", "😂", "東京は雨です", "x" * 5000])
    assert vectors.shape == (5, DIMENSIONS)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, rtol=1e-5)


def test_it_counts_the_words_and_those_that_it_has_to_find_out() -> None:
    encoder = Encoder.load(Settings().encoder_dir)
    encoder.encode(["rain and rain", "", "sun and " + "x" * 200])
    encoder.encode(["rain and sun", "x" * 300])
    assert (encoder.words, encoder.found_out) == (10, 6)  # long ones in parts of 64


def test_no_texts_give_no_vectors(encoder: Encoder) -> None:
    assert encoder.encode([]).shape == (0, DIMENSIONS)


def test_a_vector_does_not_depend_on_the_batch(encoder: Encoder) -> None:
    texts = ["Two goals in ten minutes", "café au lait", "🎉 gol!"]
    np.testing.assert_allclose(encoder.encode(texts), np.vstack([encoder.encode([t]) for t in texts]), atol=1e-6)


@pytest.mark.parametrize(
    ("one", "other"), [("😂", "🔥"), ("ꦲꦏ꧀ꦱꦫ", "ꦗꦮ"), ("great 😂", "great 🔥"), ("", "a text")]
)
def test_words_beyond_the_vocabulary_differ(encoder: Encoder, one: str, other: str) -> None:
    assert similarity(encoder, one, other) < 0.9


def test_an_emoji_glued_to_a_word_leaves_the_word_known(encoder: Encoder) -> None:
    assert similarity(encoder, "football😂", "football") > 0.5


def test_case_does_not_matter(encoder: Encoder) -> None:
    assert similarity(encoder, "FOOTBALL tonight", "football Tonight") == pytest.approx(1)


def test_the_cache_is_bounded_and_changes_nothing(encoder: Encoder) -> None:
    before = encoder.encode(["word7 and word8"])
    for start in range(0, CACHED_WORDS + 1000, 1000):
        encoder.encode([f"word{number}" for number in range(start, start + 1000)])
    assert len(encoder._words) <= CACHED_WORDS
    np.testing.assert_array_equal(encoder.encode(["word7 and word8"]), before)


@pytest.mark.parametrize(
    ("one", "other"),
    [("#ClimateCrisis", "climate crisis"), ("película", "pelicula"), ("stadium!", "(stadium)"), ("ﬁlm", "film")],
)
def test_spellings_of_one_word(encoder: Encoder, one: str, other: str) -> None:
    assert similarity(encoder, one, other) == pytest.approx(1)


@pytest.mark.parametrize(
    ("word", "parts"),
    [
        ("footballers", ["football", "er", "s"]),
        ("footballs", ["football", "s"]),
        ("(Footer!)", ["foot", "er"]),
        ("ballfoo", ["ball"]),  # what is no piece is passed over
        ("elfer…", ["elf", "er"]),
        ("ÉLAN2", ["élan"]),
        ("elan", ["élan"]),
        ("FootBall", ["foot", "ball"]),
        ("Straße", ["strasse"]),
    ],
)
def test_a_word_is_cut_into_the_longest_pieces_from_its_beginning(word: str, parts: list[str]) -> None:
    pieces = ["foot", "football", "ball", "er", "s", "elf", "élan", "strasse"]
    (vector,) = Encoder(np.eye(len(pieces)), pieces).encode([word])
    assert [pieces[row] for row in np.flatnonzero(vector)] == sorted(parts, key=pieces.index)


def test_what_stands_late_in_a_text_without_spaces_is_found(encoder: Encoder) -> None:
    before, topic = "今日は朝から天気がよくて散歩をしながら近所のパン屋に寄って" * 3, "ロケットの打ち上げ"
    assert similarity(encoder, topic, before + topic) > similarity(encoder, topic, before) + 0.1


@pytest.mark.parametrize("other", ["Fußballspiel", "partido de fútbol", "jogo de futebol", "サッカーの試合"])
def test_translations_are_near(encoder: Encoder, other: str) -> None:
    assert similarity(encoder, "football match", other) > similarity(encoder, "bread recipe", other) + 0.2


@given(st.lists(st.text(max_size=300), max_size=4))
def test_any_text_has_a_unit_vector(encoder: Encoder, texts: list[str]) -> None:
    np.testing.assert_allclose(np.linalg.norm(encoder.encode(texts), axis=1), 1, rtol=1e-5)


def test_quality_and_that_the_check_can_fail(encoder: Encoder) -> None:
    rng = np.random.default_rng(1)
    tasks = (*english_v1(), *six_languages("development"))
    chance = precisions(lambda texts: rng.normal(size=(len(texts), DIMENSIONS)), tasks)
    for figure, found in precisions(encoder.encode, tasks).items():
        assert np.mean(found) >= LEAST[figure]
        assert np.mean(chance[figure]) < LEAST[figure] / 1.5


def test_a_missing_encoder_names_the_remedy(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="make setup"):
        Encoder.load(tmp_path)


def test_the_table_of_another_release_names_the_remedy(tmp_path: Path) -> None:
    content = bytearray((Settings().encoder_dir / TABLE).read_bytes())
    content[-1] ^= 1
    (tmp_path / TABLE).write_bytes(content)
    with pytest.raises(ValueError, match="make setup"):
        Encoder.load(tmp_path)
