"""Semantic search: encoder, index and store."""
