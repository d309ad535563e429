"""What `murmur ingest` takes for an option of a synthetic source, and what it does not."""

import click
import pytest
from click.testing import CliRunner

from cli.ingest import ingest
from cli.options import shares

LANGUAGES = next(option for option in ingest.params if option.name == "languages")


def mix(value: str | None) -> dict[str, float] | None:
    return shares(click.Context(ingest), LANGUAGES, value)  # type: ignore[arg-type]


def test_languages_are_given_with_shares_or_alike() -> None:
    assert mix("en=0.7, de=0.3") == {"en": 0.7, "de": 0.3}
    assert mix("ja,ko") == {"ja": 1, "ko": 1}
    assert mix(None) is None


@pytest.mark.parametrize(("value", "why"), [
    ("tlh=1", "tlh: choose of en, es"), ("", "nothing: choose of"), ("en=", "give shares such as"),
    ("en=much", "give shares such as"), ("en=0", "above 0"), ("en=-1", "above 0"), ("en=nan", "above 0"),
    ("en=inf", "above 0"), ("en=1,,", "nothing: choose of")])
def test_a_mix_that_is_none_is_refused(value: str, why: str) -> None:
    with pytest.raises(click.BadParameter, match=why):
        mix(value)


@pytest.mark.parametrize("arguments", [["--workload", "other"], ["--odd", "1.1"], ["--languages", "xx"]])
def test_the_command_refuses_them_before_it_does_anything(arguments: list[str]) -> None:
    result = CliRunner().invoke(ingest, ["--source", "synthetic", *arguments])
    assert result.exit_code == 2
