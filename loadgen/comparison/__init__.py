"""Middlewares side by side under the same application: the same search on each, in alternation.

Each search runs on an instance of its own that is started for it and removed after it, so that none meets what another
left behind; only one runs at a time, since they would share the cores.
"""
