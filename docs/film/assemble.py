"""Puts frames together to a moving picture: `python assemble.py FOLDER TARGET`; record.mjs takes them."""

from __future__ import annotations

import sys
from itertools import pairwise
from pathlib import Path

from PIL import Image

MOST_BYTES = 3_000_000
WIDTH = 1080
SPEED = 2
LONGEST_MS = 1200
LAST_MS = 4000
QUALITIES = (70, 55, 40, 30)


def assemble(folder: Path, target: Path) -> None:
    """At twice the speed that it had; a wait for the browser is cut. The best of QUALITIES that is small enough is
    taken. Raises ValueError if none is."""
    paths = sorted(folder.glob("*.png"))
    frames = [smaller(Image.open(path).convert("RGB")) for path in paths]
    took = [min(LONGEST_MS, (int(after.stem) - int(before.stem)) // SPEED) for before, after in pairwise(paths)]
    for quality in QUALITIES:
        frames[0].save(target, save_all=True, append_images=frames[1:], duration=[*took, LAST_MS], loop=0,
                       quality=quality, method=4, minimize_size=True)
        if target.stat().st_size <= MOST_BYTES:
            return
    raise ValueError(f"{target} has {target.stat().st_size} bytes, of {len(frames)} frames")


def smaller(frame: Image.Image) -> Image.Image:
    return frame.resize((WIDTH, round(frame.height * WIDTH / frame.width)), Image.Resampling.LANCZOS)


if __name__ == "__main__":
    assemble(Path(sys.argv[1]), Path(sys.argv[2]))
