import hashlib

import numpy as np

from search.training import quality
from search.training.quality import Figure, english_v1, hashing, precisions, six_languages

YARDSTICKS = "44c16f45f942954457acd646b26c382f48c9f737efad2db5bca010871d0e4d77"


def test_the_yardsticks_are_as_they_were_written() -> None:
    files = sorted(quality.YARDSTICK.rglob("*.json"))
    together = hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()
    assert together == YARDSTICKS


def test_the_halves_share_neither_queries_nor_topics() -> None:
    development, held_out = six_languages("development"), six_languages("held-out")
    assert not {task.query for task in development} & {task.query for task in held_out}
    for half in (development, held_out):
        wanted = {sentence for task in half for sentence in np.array(task.sentences)[task.wanted]}
        other = held_out if half is development else development
        assert not wanted & {sentence for task in other for sentence in task.sentences}


def test_a_query_across_languages_finds_none_of_its_own() -> None:
    own = {task.query: set(task.sentences) for task in six_languages("development") if task.figure in quality.LANGUAGES}
    for task in six_languages("development"):
        if task.figure == "across languages":
            assert not own[task.query] & set(task.sentences)
            assert (len(task.sentences), task.wanted.sum()) == (840, 60)


def test_an_encoder_that_knows_the_answer_has_all_right() -> None:
    tasks = english_v1()
    topic = {text: number for number, task in enumerate(tasks[::2]) for text in np.array(task.sentences)[task.wanted]}
    topic |= {task.query: number // 2 for number, task in enumerate(tasks)}
    found = precisions(lambda texts: np.eye(14)[[topic[text] for text in texts]], tasks)
    assert found == {"english-v1": [1.0] * 28}


def test_hashing_finds_the_same_words_only() -> None:
    one, same, other = hashing(["the red house", "The house, red", "une maison rouge"])
    assert one @ same > 0.99
    assert one @ other < 0.01


def test_an_interval_holds_the_mean_and_narrows_with_queries() -> None:
    few, many = (Figure.of([0.0, 1.0] * count) for count in (5, 500))
    assert few.low < few.mean == 0.5 < few.high
    assert many.high - many.low < (few.high - few.low) / 5
