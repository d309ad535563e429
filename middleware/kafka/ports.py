"""Where Kafka listens on this machine."""

from common.settings import MiddlewarePort


class Port(MiddlewarePort):
    BROKER = 30
    CONTROLLER = 31
