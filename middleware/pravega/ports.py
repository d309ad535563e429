"""Where Pravega's servers listen on this machine."""

from common.settings import MiddlewarePort


class Port(MiddlewarePort):
    ZOOKEEPER = 20
    CONTROLLER = 22
    CONTROLLER_REST = 23
    SEGMENT_STORE = 24  # the first; the other follows
    BOOKIE = 26  # the first; the others follow, up to 4
