"""`murmur accept-loss`: the way out when retention has overtaken a reader."""

from cli.accept_loss.command import accept_loss

__all__ = ["accept_loss"]
