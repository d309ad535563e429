"""The workload of tweets that behave like real ones."""
