"""Where Kafka listens on this machine."""

from common.settings import MiddlewarePort


class Port(MiddlewarePort):
    BROKER = 30  # the first; the others follow, up to 3
    CONTROLLER = 33
