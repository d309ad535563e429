"""`python -m cli`: what the launcher `./murmur` runs."""

from cli.main import murmur

murmur(prog_name="murmur")
