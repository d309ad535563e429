"""`make demo`: an instance with tweets of one source, in the foreground, until Ctrl-C or a closed terminal."""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Sequence
from types import FrameType
from typing import Any, NoReturn

from cli import options
from common import modules
from common.process.child import ends_with_parent, python
from common.settings import Settings
from deploy.local import checkout
from ingest.sources.base import KEYLESS

SYNTHETIC = "synthetic"
SOURCES = (SYNTHETIC, *KEYLESS)
RATE = 100
FIRST_TWEET_SECONDS = 180
LOOK_SECONDS = 0.5
INGEST_STOP_SECONDS = 1.5


class Stopped(Exception):
    """The user ends the demonstration."""


def main(arguments: Sequence[str]) -> int:
    """`arguments`: the source, unless tweets are to be invented."""
    name, *more = arguments or [SYNTHETIC]
    if more or name not in SOURCES:
        print(f"SOURCE={' '.join(arguments)} is none of {' '.join(SOURCES)}", file=sys.stderr)
        return 2
    try:
        checkout.require("the demonstration")
    except checkout.NoCheckout as error:
        print(error, file=sys.stderr)
        return 1
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, stop)
    source: subprocess.Popen[bytes] | None = None
    try:
        murmur("up")
        settings = Settings.load()
        url = settings.url
        page = f"\n  The page: {options.page(settings)}\n\nCtrl-C stops everything; the data stays."
        if name in KEYLESS:  # whose first tweet may take long
            print(page, flush=True)
        source = feed(name)
        await_first_tweet(url, name, source)
        if name not in KEYLESS:
            print(page, flush=True)
        status = source.wait()
        print(ended(name), file=sys.stderr)
        return status
    except Stopped:
        return 0
    except subprocess.CalledProcessError as error:
        return int(error.returncode)  # the command has said why
    except TimeoutError as error:
        print(error, file=sys.stderr)
        return 1
    finally:
        end(source)


def feed(name: str) -> subprocess.Popen[bytes]:
    """Starts the source. What a live one has to say is seen on the terminal, such as that no server answers."""
    is_live = name in KEYLESS
    print(f"feeding what {name} sends" if is_live else f"feeding {RATE} synthetic tweets a second", flush=True)
    words = ["--json"] if is_live else ["--rate", str(RATE)]  # without a line of progress each second
    return subprocess.Popen(
        ends_with_parent(python(modules.Cli.MURMUR, "ingest", "--source", name, *words)),
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=None if is_live else subprocess.DEVNULL,
        process_group=0,
    )


def ended(name: str) -> str:
    return f"the source of tweets has ended: `./murmur ingest --source {name}` shows why"


def stop(number: int, frame: FrameType | None) -> NoReturn:
    for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(each, signal.SIG_IGN)  # one is enough: what follows must not be interrupted
    raise Stopped


def end(source: subprocess.Popen[bytes] | None) -> None:
    """Stops the source of tweets, then the instance."""
    try:
        print("\nstopping", flush=True)
    except OSError:  # the terminal is gone, and nothing must fail for want of it
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
    if source and source.poll() is None:
        source.terminate()
        try:
            source.wait(INGEST_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            source.kill()  # what it had archived and not published, `murmur ingest --resume` publishes
    subprocess.run(python(modules.Cli.MURMUR, "down"), stdin=subprocess.DEVNULL, process_group=0)


def murmur(*words: str) -> None:
    """A command of `murmur` that Ctrl-C in the terminal does not reach: this process decides what ends."""
    subprocess.run(python(modules.Cli.MURMUR, *words), check=True, stdin=subprocess.DEVNULL, process_group=0)


def await_first_tweet(url: str, name: str, source: subprocess.Popen[bytes]) -> None:
    """Returns when the API shows a ranking and finds a tweet; raises TimeoutError.

    A live source may take any time: its servers are tried on.
    """
    until = math.inf if name in KEYLESS else time.monotonic() + FIRST_TWEET_SECONDS
    ranked, searchable = False, False
    while not (ranked and searchable):
        if source.poll() is not None:
            raise TimeoutError(ended(name))
        if time.monotonic() > until:
            raise TimeoutError("no tweet came through: see `./murmur status` and `./murmur logs spark`")
        time.sleep(LOOK_SECONDS)
        if not ranked and (hashtags := ask(url, "trending", window="1m").get("hashtags")):
            ranked = True
            print(f"first ranking: #{hashtags[0]['hashtag']} leads", flush=True)
        if not searchable and ask(url, "search", q="music").get("hits"):
            searchable = True
            print("first tweet is searchable", flush=True)


def ask(url: str, path: str, **query: str) -> dict[str, Any]:
    """What the API answers; empty while it cannot."""
    try:
        with urllib.request.urlopen(f"{url}/api/v1/{path}?{urllib.parse.urlencode(query)}", timeout=5) as response:
            return dict(json.load(response))
    except (urllib.error.URLError, TimeoutError):
        return {}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
