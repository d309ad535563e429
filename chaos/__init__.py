"""Failures of a local instance that are provoked on purpose: each ends by itself, and is told to whoever draws it."""
