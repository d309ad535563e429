"""Where Pravega's servers listen on this machine."""

from common.settings import MiddlewarePort


class Port(MiddlewarePort):
    ZOOKEEPER = 20
    BOOKIE = 21
    CONTROLLER = 22
    CONTROLLER_REST = 23
    SEGMENT_STORE = 24
