"""Where Pulsar listens on this machine."""

from common.settings import MiddlewarePort


class Port(MiddlewarePort):
    BROKER = 36
    ADMIN = 37
