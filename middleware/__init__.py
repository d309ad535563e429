"""The stream stores that the application can run on. Each is a package in a folder `middleware` on Python's path."""

from pkgutil import extend_path

__path__ = extend_path(__path__, __name__)
