"""How we say who asks, where servers want to know."""

from __future__ import annotations

from importlib.metadata import version

USER_AGENT = f"murmuration/{version('murmuration')} (reference streaming application; python)"
