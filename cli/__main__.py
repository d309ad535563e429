"""`python -m cli`: what the launcher `./murmur` runs."""

import os

from cli.main import murmur

os.umask(0o077)  # whatever an instance stores is for its owner only, whoever of its processes makes the file
murmur(prog_name="murmur")
