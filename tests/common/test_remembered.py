from common.remembered import LONGEST, remembered


def test_short_texts_are_remembered_and_long_ones_are_not() -> None:
    asked: list[str] = []

    @remembered(2)
    def length(text: str) -> int:
        asked.append(text)
        return len(text)

    short, long = "a" * LONGEST, "a" * (LONGEST + 1)
    assert [length(text) for text in (short, short, long, long)] == [LONGEST, LONGEST, LONGEST + 1, LONGEST + 1]
    assert asked == [short, long, long]
    assert [length(text) for text in ("b", "c", short)] == [1, 1, LONGEST]
    assert asked[3:] == ["b", "c", short]
