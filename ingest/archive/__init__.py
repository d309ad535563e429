"""Payloads on disk before they are published."""
