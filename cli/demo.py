"""`make demo`: an instance with synthetic tweets, in the foreground, until Ctrl-C or a closed terminal."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from types import FrameType
from typing import Any, NoReturn

from common import modules
from common.process.child import ends_with_parent, python
from common.settings import Settings
from deploy.local import checkout

RATE = 100
FIRST_TWEET_SECONDS = 180
LOOK_SECONDS = 0.5
INGEST_STOP_SECONDS = 1.5


class Stopped(Exception):
    """The user ends the demonstration."""


def main() -> int:
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
        url = Settings.load().url
        print(f"feeding {RATE} synthetic tweets a second", flush=True)
        source = subprocess.Popen(
            ends_with_parent(python(modules.Cli.MURMUR, "ingest", "--source", "synthetic", "--rate", str(RATE))),
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, process_group=0,
        )
        await_first_tweet(url, source)
        print(f"\n  The page: {url}\n\nCtrl-C stops everything; the data stays.", flush=True)
        status = source.wait()
        print("the source of tweets has ended: `./murmur ingest --source synthetic` shows why", file=sys.stderr)
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


def await_first_tweet(url: str, source: subprocess.Popen[bytes]) -> None:
    """Returns when the API shows a ranking and finds a tweet; raises TimeoutError."""
    until, ranked, searchable = time.monotonic() + FIRST_TWEET_SECONDS, False, False
    while not (ranked and searchable):
        if source.poll() is not None:
            raise TimeoutError("the source of tweets has ended: `./murmur ingest --source synthetic` shows why")
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
    sys.exit(main())
