"""Begin and end a command, so that Ctrl-C never shows a traceback, however early or late it comes.

Imported first of all by a command's entry point. Until the command's own modules are there, and
again when it is done, Ctrl-C ends the process as the system does by itself: there is nothing yet,
or no longer, to be lost. (Python's start, some 10 ms before this, is not ours.)
"""

from __future__ import annotations

# The built-in part of `signal`, whose own import would take longer than all the rest of this.
import _signal  # type: ignore[import-not-found]
import os
import sys

# Not where it is ignored, as of a job in a shell's background.
_TAKEN = _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler
if _TAKEN:
    _signal.signal(_signal.SIGINT, _signal.SIG_DFL)

_INTERRUPTED = 130  # bulkbits.exit_codes has it, too, but is not imported yet
_LEAST = 256 << 20  # bytes of addresses that the imports and a small job take


def begin(name: str) -> None:
    """Import the `cli` of the package of that name, and run its main(), which exits."""
    if reason := _too_few_addresses():
        if sys.stderr is not None:
            print(f"{name}: {reason}", file=sys.stderr)
        sys.exit(2)
    from bulkbits.ownership import ForeignPackageError, check

    try:
        check("kernels")
        cli = __import__(f"{name}.cli", fromlist=["main"])
        if _TAKEN:
            _signal.signal(_signal.SIGINT, _signal.default_int_handler)
        cli.main()
    except KeyboardInterrupt:  # before or after what bulkbits.entry looks after
        if sys.stderr is not None:
            print(f"{name}: interrupted", file=sys.stderr)
        _end_at_once(_INTERRUPTED)
    except SystemExit as end:
        if end.code == _INTERRUPTED:
            _end_at_once(_INTERRUPTED)
        raise
    except ForeignPackageError as error:
        if sys.stderr is not None:
            print(f"{name}: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
    except Exception as error:  # while it is imported, as where numpy is broken
        from bulkbits.faults import fail_internally

        fail_internally(name, error)
    finally:
        if _TAKEN:
            _signal.signal(_signal.SIGINT, _signal.SIG_DFL)


def _end_at_once(code: int) -> None:
    """Exit as sys.exit() does, but leave it to the system to take all objects apart.

    Python does that one by one, for tenths of a second where much was imported. Threads and what
    was registered to be done at exit have their turn before; unless a GPU is just being started,
    which cannot be broken off.
    """
    import atexit
    import contextlib
    import threading

    early = sys.modules.get("kernels.targets.cuda.early")
    try:
        if early is None or not early.under_way():
            threading._shutdown()  # type: ignore[attr-defined]
            atexit._run_exitfuncs()
    finally:
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(AttributeError, OSError, ValueError):  # None, full, closed
                stream.flush()
        os._exit(code)


def _too_few_addresses() -> str:
    """Return why nothing can be done within this process's limit of addresses, "" if it can.

    Without enough of them the imports themselves fail, in many lines that do not say so.
    """
    try:
        import resource
    except ImportError:  # not on Windows
        return ""
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit in (-1, resource.RLIM_INFINITY):
        return ""
    # Else OpenBLAS takes addresses for each core as numpy is imported, and nothing here needs it.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    if limit >= _LEAST:
        return ""
    needed = f"{_LEAST >> 20} MiB of addresses are needed at least"
    return f"{needed}, the limit is {limit >> 20} MiB: ulimit -v {_LEAST >> 10}, or more, raises it"
