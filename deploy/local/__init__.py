"""One machine: real, durable servers as ordinary processes under supervisor, on loopback."""

from pkgutil import extend_path

__path__ = extend_path(__path__, __name__)
