"""`murmur audit`: what is missing and what is there twice, stage by stage."""

from cli.audit.command import audit

__all__ = ["audit"]
