"""Certificates: those of one run on this machine, and those that people have given Dask."""

from __future__ import annotations

import re
import socket
import ssl
from typing import Any
from urllib.parse import urlsplit

from .errors import ClusterError, line_of

_VARIABLE = "DASK_DISTRIBUTED__COMM__TLS__"
_NAMES = f"{_VARIABLE}CA_FILE, {_VARIABLE}CLIENT__CERT and {_VARIABLE}CLIENT__KEY"
_PATIENCE = 2.0  # seconds
_ENCRYPTED, _OPEN = ("tls", "wss"), ("tcp", "ws")  # protocols


def temporary() -> Any:
    """Return a Security of Dask with a new key and certificate, that only processes with whom
    this one shares it have. Raises ClusterError where `cryptography` is not installed."""
    from distributed import Security

    make: Any = Security
    try:
        return make.temporary()
    except ImportError:
        raise ClusterError(
            "--cluster local:N needs cryptography, to keep other users of this machine out: "
            "pip install 'bulkbits[dist]'"
        ) from None


def configured(address: str) -> Any:
    """Return the Security that Dask's configuration has for a scheduler at this address, or None
    where a program that it names (security-loader) finds it.

    Raises ClusterError where it lacks what the address needs, or its files cannot be used.
    """
    import dask
    from distributed import Security

    if dask.config.get("distributed.client.security-loader", None):
        return None
    protocol, make = address.partition("://")[0], Security
    try:
        security: Any = make()  # type: ignore[no-untyped-call]
    except (TypeError, ValueError) as error:
        raise ClusterError(f"Dask's configuration of TLS: {line_of(error)}") from None
    if security.require_encryption and protocol in _OPEN:
        raise ClusterError(
            f"{address}: Dask's configuration requires encryption: write tls://HOST:PORT"
        )
    files = _files(security)
    if protocol in _ENCRYPTED and not {"ca-file", "client.cert"} <= files.keys():
        raise ClusterError(
            f"{address}: TLS needs certificates: set {_NAMES}, or the same in Dask's configuration"
        )
    for what, path in files.items():
        if problem := _problem(path):
            raise ClusterError(f"{_shown(path)}: {problem}: it is Dask's {what} for TLS")
    try:
        security.get_connection_args("client")
    except (OSError, ValueError) as error:
        named = ", ".join(f"{what} {_shown(path)}" for what, path in files.items())
        raise ClusterError(f"certificates cannot be used: {_said(error)} ({named})") from None
    return security


def trouble(address: str, security: Any) -> str | None:
    """Say in one line why a scheduler, with whom Dask did not get on, and this process do not agree
    on TLS; None where that is not why.

    It connects once more: what Dask was told may be lost where it was speaking itself.
    """
    protocol, place = address.partition("://")[0], urlsplit(address)
    if protocol not in ("tcp", "tls") or security is None:
        return None
    if protocol == "tcp":
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    else:
        context = security.get_connection_args("client")["ssl_context"]
    try:
        with socket.create_connection((place.hostname, place.port), timeout=_PATIENCE) as plain:
            error = _refusal(context, plain)
    except (OSError, ValueError):
        return None  # that nobody is there
    said = _said(error) if error else ""
    if protocol == "tcp":
        speaks = error is None or "alert" in said
        return f"{address}: the scheduler takes TLS only: write tls://HOST:PORT" if speaks else None
    files = _files(security)
    if isinstance(error, ssl.SSLCertVerificationError):
        ca, why = _shown(files["ca-file"]), error.verify_message
        return f"{address}: the scheduler's certificate is none of {ca}: {why}"
    if "alert" in said:
        mine = _shown(files["client.cert"])
        return f"{address}: the scheduler refuses the certificate {mine}: {said}"
    return f"{address}: the scheduler does not speak TLS: {said}" if error else None


def _refusal(context: ssl.SSLContext, plain: socket.socket) -> ssl.SSLError | None:
    """Return what ends a connection as both sides look at each other's certificates; None where
    nothing does. Raises OSError where the other side is silent."""
    try:
        with context.wrap_socket(plain) as connection:
            connection.recv(1)  # a scheduler speaks first, unless it ends the connection
    except ssl.SSLError as error:
        return error
    return None


def _files(security: Any) -> dict[str, str]:
    """Return the files of a client, by their names in Dask's configuration."""
    files = {
        "ca-file": security.tls_ca_file,
        "client.cert": security.tls_client_cert,
        "client.key": security.tls_client_key,
    }
    return {what: str(path) for what, path in files.items() if path}


def _shown(path: str) -> str:
    return "(of the configuration)" if "\n" in path else path


def _problem(path: str) -> str:
    """Say why a file cannot be used; nothing where it can."""
    if "\n" in path:
        return ""  # it is what would be in the file
    try:
        with open(path, "rb") as file:
            locked = b"ENCRYPTED" in file.read(1 << 20)
    except OSError as error:
        return error.strerror or str(error)
    return "it has a passphrase, which Dask cannot ask for" if locked else ""


def _said(error: BaseException) -> str:
    """Return what OpenSSL says without places in its sources: "key values mismatch"."""
    return re.sub(r"^\[[^]]*\] *| *\(_ssl\.c:[0-9]+\)$", "", line_of(error.args[-1]))
