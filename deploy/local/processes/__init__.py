"""Processes under a manager: how they are started, when they are ready, how they end."""
