"""Consumers of Spark's streams: trending and search."""
