"""An instance as containers: one process each, by the same descriptions as on one machine."""
