"""The page of `lifesim serve` in headless Chromium over a slow line.

Prints the seconds to the first picture, the frames a second while one pans, and how many
generations a second are seen of a run.

    python -m benchmarks.browser UNIVERSE [--latency 50] [--seconds 5]

The line is one to this machine whose answers Chromium holds back, each as long as --latency says,
in milliseconds. A frame counts as sharp where all of it was of the scale that is looked at, not of
a coarser one. UNIVERSE may also be a pattern.
"""

from __future__ import annotations

import argparse
import json
import signal
import subprocess
import sys
import time

from tests.browsers import Browser

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
  viewer.order({ do: "play" });
  const step = (now) => {
    seen.add(viewer.target);
    if (now - began < 1000 * SECONDS) return requestAnimationFrame(step);
    viewer.order({ do: "pause" });
    done(seen.size / (now - began) * 1000);
  };
  requestAnimationFrame(step);
})
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("universe")
    parser.add_argument("--latency", type=float, default=50)
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--in", dest="steps", type=int, default=3, help="zoom steps before")
    chosen = parser.parse_args()
    with Browser(1280, 800) as browser:
        browser.do(
            "Network.emulateNetworkConditions",
            offline=False,
            latency=chosen.latency,
            downloadThroughput=-1,
            uploadThroughput=-1,
        )
        began = time.monotonic()
        server = subprocess.Popen(
            ["lifesim", "serve", chosen.universe, "--json"], stdout=subprocess.PIPE, text=True
        )
        try:
            assert server.stdout
            address = json.loads(server.stdout.readline())["address"]
            served = time.monotonic()
            browser.open(address)
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
                played = browser.value(PLAY.replace("SECONDS", str(chosen.seconds)))
                print(f"{played:.1f} generations/s seen of a run")
            for problem in browser.problems():
                print(problem, file=sys.stderr)
        finally:
            server.send_signal(signal.SIGINT)
            server.wait()


if __name__ == "__main__":
    main()
