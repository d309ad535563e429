"""Experiments that drive the whole pipeline: load, verdict, search for the capacity, comparison, report."""
