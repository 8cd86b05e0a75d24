"""Who may talk to the server: whoever knows the token, by a name of this machine only."""

from __future__ import annotations

import hmac
import re
import secrets

# A page of elsewhere whose name has been made to lead here still says its own name as the host. The
# port is another one at the near end of an SSH tunnel.
_HERE = re.compile(r"(127\.0\.0\.1|localhost|\[::1\])(:[0-9]{1,5})?")

HEADERS = {
    "Content-Security-Policy": "default-src 'self'; img-src 'self' data:; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cache-Control": "no-store",
}


def new_token() -> str:
    """Return a token that nobody guesses: 192 bits."""
    return secrets.token_urlsafe(24)


def is_token(given: str, token: str) -> bool:
    """Tell whether a token is the right one, in a time that does not depend on the answer."""
    return hmac.compare_digest(given.encode("utf-8", "replace"), token.encode())


def is_here(host: str) -> bool:
    """Tell whether a Host header names this machine as itself."""
    return _HERE.fullmatch(host) is not None


def is_own_page(origin: str | None, host: str) -> bool:
    """Tell whether an Origin header is that of a page of this server; a browser always sends one
    with a websocket."""
    return origin is not None and is_here(host) and origin == f"http://{host}"
