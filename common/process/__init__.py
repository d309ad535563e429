"""Processes: how ours are started and end, and what their manager is asked."""
