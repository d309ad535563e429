"""When Python looks for reference cycles among its objects."""

import gc

YOUNG_OBJECTS = 100_000


def collect_seldom() -> None:
    """For a process that parses events, to be called once everything is imported.

    Python looks as soon as 700 more objects were made than freed. A few thousand parsed tweets at hand are many times
    that, and it goes through all of them, and in time through everything imported, to find none: a third of what
    parsing itself takes, and several times that if they stay for long.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(YOUNG_OBJECTS)


def collect_never() -> None:
    """For a process that audits and ends: its ledgers of millions of tweets have no cycles, but a client in Java would
    have them searched whenever Java collects, in half of the audit's time.
    """
    gc.disable()
