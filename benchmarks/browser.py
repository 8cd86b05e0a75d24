"""The page of `lifesim serve` in headless Chromium over a slow line.

Prints the seconds to the first picture, the frames a second while one pans, and how many
generations a second are seen of a run.

    python -m benchmarks.browser UNIVERSE [--latency 50] [--rate 0] [--seconds 5]

The line is one to this machine that holds all bytes back, those of the websocket too, so that a
question and its answer take as long as --latency says, in milliseconds; --rate is how many bytes a
second pass, 0 as many as come. A frame counts as sharp where all of it was of the scale that is
looked at, not of a coarser one. UNIVERSE may also be a pattern.
"""

from __future__ import annotations

import argparse
import json
import signal
import subprocess
import sys
import time
import urllib.request
from contextlib import ExitStack

from tests.browsers import Browser
from tests.slow_line import slow_line

PAN = """
new Promise((done) => {
  const began = performance.now(), drawn = viewer.frames, shares = [];
  const step = (now) => {
    shares.push(viewer.coverage);
    if (now - began > 1000 * SECONDS) {
      done({ seconds: (now - began) / 1000, frames: viewer.frames - drawn, shares });
      return;
    }
    viewer.pan(6, 3);
    requestAnimationFrame(step);
  };
  requestAnimationFrame(step);
})
"""

PLAY = """
new Promise((done) => {
  const began = performance.now(), seen = new Set();
  const step = (now) => {
    seen.add(viewer.facts.generation);
    if (now - began < 1000 * SECONDS) return requestAnimationFrame(step);
    done(seen.size / (now - began) * 1000);
  };
  requestAnimationFrame(step);
})
"""


def behind(browser: Browser, address: str) -> int:
    """Return how many generations what is shown is behind what is computed."""
    shown = int(browser.value("viewer.facts.generation"))
    with urllib.request.urlopen(f"{address}facts") as answer:
        return int(json.load(answer)["generation"]) - shown


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("universe")
    parser.add_argument("--latency", type=float, default=50)
    parser.add_argument("--rate", type=float, default=0)
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--in", dest="steps", type=int, default=3, help="zoom steps before")
    chosen = parser.parse_args()
    with Browser(1280, 800) as browser, ExitStack() as opened:
        began = time.monotonic()
        server = subprocess.Popen(
            [sys.executable, "-m", "lifesim", "serve", chosen.universe, "--json"],
            stdout=subprocess.PIPE,
            text=True,
        )
        try:
            assert server.stdout
            told = json.loads(server.stdout.readline())
            served = time.monotonic()
            port = opened.enter_context(slow_line(told["port"], chosen.latency / 1000, chosen.rate))
            browser.open(f"http://127.0.0.1:{port}/{told['token']}/")
            browser.until("globalThis.viewer?.frames > 0 && viewer.coverage === 1")
            seen = time.monotonic()
            print(f"served after {served - began:.2f} s, first picture {seen - served:.2f} s later")
            browser.value(f"viewer.zoom({chosen.steps})")
            browser.until("viewer.coverage === 1")
            found = browser.value(PAN.replace("SECONDS", str(chosen.seconds)))
            sharp = sum(share == 1 for share in found["shares"]) / len(found["shares"])
            mean = sum(found["shares"]) / len(found["shares"])
            print(
                f"{found['frames'] / found['seconds']:.1f} frames/s while panning, {sharp:.0%} of "
                f"them sharp, {mean:.0%} of what is seen"
            )
            if browser.value("viewer.facts.plays"):
                browser.value(f"viewer.fit(), viewer.zoom({chosen.steps})")
                browser.until("viewer.coverage === 1")
                browser.value("viewer.play()")
                played = browser.value(PLAY.replace("SECONDS", str(chosen.seconds)))
                lags = sorted(behind(browser, told["address"]) for _ in range(20))
                browser.value("viewer.play()")
                print(
                    f"{played:.1f} pictures/s seen of a run, {lags[10]} generations behind, "
                    f"at most {lags[-1]}"
                )
            for problem in browser.problems():
                print(problem, file=sys.stderr)
        finally:
            server.send_signal(signal.SIGINT)
            server.wait()


if __name__ == "__main__":
    main()
