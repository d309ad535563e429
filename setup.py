"""What pyproject.toml cannot say: each middleware names in its folder what it needs."""

from pathlib import Path

from setuptools import setup

LISTS = (Path("requirements.in"), *sorted(Path("middleware").glob("*/requirements.in")))
LINES = [line.partition("#")[0].strip() for file in LISTS for line in file.read_text().splitlines()]

setup(install_requires=[line for line in LINES if line])
