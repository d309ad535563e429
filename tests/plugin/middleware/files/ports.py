"""Where the server of the files listens on this machine."""

from common.settings import MiddlewarePort


class Port(MiddlewarePort):
    SERVER = 20
