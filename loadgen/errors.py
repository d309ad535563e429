"""Why an experiment could not be made; the messages name the way out."""

from __future__ import annotations


class DiskShort(Exception):
    """An experiment could fill the disk."""


class GeneratorFailed(Exception):
    """A generator process ended by itself, or did not start; the message holds the end of its log."""


class StackBroken(Exception):
    """The stack does not do its work any more."""


class Busy(StackBroken):
    """Tweets that are not the experiment's are on their way, and would be taken for its own."""
