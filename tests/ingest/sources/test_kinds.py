"""What is known of each source by its name alone."""

import importlib
import pkgutil

from ingest import sources
from ingest.endpoint.inbox import SOURCE
from ingest.sources.base import KEYLESS, KINDS, LIVE, Source
from ingest.sources.live import Live


def classes(of: type[Source]) -> set[type[Source]]:
    found = {each for each in of.__subclasses__() if each.__module__.startswith("ingest.sources.")}
    return found.union(*map(classes, found)) if found else set()


def test_of_each_source_is_known_how_real_its_tweets_are() -> None:
    for module in pkgutil.iter_modules(sources.__path__):
        importlib.import_module(f"ingest.sources.{module.name}")
    named = {each.name for each in classes(Source) if hasattr(each, "name")}
    assert named | {SOURCE} == set(KINDS)
    assert {each.name for each in classes(Live)} == set(KEYLESS)
    assert set(KEYLESS) < LIVE
