"""Where NATS' server listens on this machine."""

from common.settings import MiddlewarePort


class Port(MiddlewarePort):
    CLIENT = 20
    MONITORING = 21
