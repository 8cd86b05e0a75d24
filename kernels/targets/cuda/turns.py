"""Turns at a whole device, for launches whose blocks wait for each other."""

from __future__ import annotations

import threading
from collections import defaultdict

from kernels.targets.cuda.device import DeviceInfo

_turns: defaultdict[int | None, threading.Lock] = defaultdict(threading.Lock)


def whole_device(info: DeviceInfo) -> threading.Lock:
    """Return the lock to be held from such a launch until the device has been waited for.

    Two such launches at a time might each have a part of the device, and wait for ever.
    """
    return _turns[info.index]
