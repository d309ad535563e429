"""`python -m cli`: what the launcher `./murmur` runs."""

from cli.main import main

main()
