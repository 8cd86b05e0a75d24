"""Reading the moduli of public keys, certificates and lists of numbers.

PEM, DER and OpenSSH are read by `cryptography` (the extra `keys`). Private keys are
not read: whoever checks keys for others should not be given those.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import re
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import gmpy2

FORMATS = ("auto", "pem", "der", "openssh", "lines", "decimal", "hex")
MOST_BITS = 1 << 20  # of a modulus
MOST_LINE = 1 << 20  # bytes of a line, which are more than the longest modulus takes

_PEM = re.compile(
    rb"-----BEGIN ([A-Z0-9 ]+)-----(.*?)(-----END \1-----|(?=-----BEGIN )|\Z)", re.DOTALL
)
_SSH = re.compile(r"(?:^|\s)((?:ssh|ecdsa|sk)-[A-Za-z0-9@.-]+)\s+(AAAA[A-Za-z0-9+/]+=*)(?=\s|$)")
# What authorized_keys may quote before a key (`command="..."`) is no key, whatever it looks like.
_QUOTED = re.compile(r'"(?:\\.|[^"\\])*(?:"|$)')
_PRIVATE_DER = re.compile(rb"\x30(?:[\x00-\x7f]|\x81.|\x82..|\x83...)\x02\x01[\x00\x01]", re.DOTALL)
_DIGITS = {10: frozenset("0123456789"), 16: frozenset("0123456789abcdefABCDEF")}
_BITS_PER_DIGIT = {10: 3.3219, 16: 4.0}


class KeyFileError(ValueError):
    """A file that holds no keys, or what is none: one line, with file and line."""


class UnreadableKeyError(KeyFileError):
    """A key that is damaged, private or too long, or that `cryptography` refuses."""


class MissingReaderError(KeyFileError):
    """A key that may be good, but there is no `cryptography` to read it."""


@dataclass(slots=True)
class Keys:
    """moduli[i] was found at sources[i], "FILE" or "FILE:LINE"; others, what was passed over:
    how many keys of each other kind; unreadable, a line for each key that cannot be read."""

    moduli: list[int] = field(default_factory=list)
    sources: list[str] = field(default_factory=list)
    others: Counter[str] = field(default_factory=Counter)
    unreadable: list[str] = field(default_factory=list)

    def add(self, data: bytes, name: str, kind: str = "auto") -> None:
        """Add the keys in `data`; name: of its file, for sources and messages.

        kind: one of FORMATS. lines: numbers in decimal, or hex where they begin with 0x or
        have a letter; decimal and hex: all of them that. openssh: as in authorized_keys or
        known_hosts. auto: what it looks like; OpenSSH keys and numbers may be mixed.
        What cannot be read is noted, and does not lose the other keys: a key that is damaged
        or private, and a line that is neither a key nor a number. Where there is such a line,
        numbers are passed over as well, as the file is then no list of them.

        Raises KeyFileError where nothing is readable, whatever is in the file, and then adds
        nothing: UnreadableKeyError where that is for a key or for a line, MissingReaderError
        where `cryptography` is needed and not there.
        """
        if kind == "auto":
            kind = _kind_of(data)
        if kind in ("pem", "der"):
            _need_cryptography(name)
        found = Keys()
        if kind == "pem":
            found._add_pem(data, name)
        elif kind == "der":
            found._take(lambda: _der_key(data, name), name)
        else:
            found._add_lines(data, name, kind)
        if not found.moduli and not found.others:
            if found.unreadable:
                raise UnreadableKeyError(found.unreadable[0])
            raise KeyFileError(f"{name}: there is no key and no number in it")
        self.moduli += found.moduli
        self.sources += found.sources
        self.others += found.others
        self.unreadable += found.unreadable

    def _take(self, reader: Callable[[], Any], source: str) -> None:
        """Take what reader() returns: a key as `cryptography` has it, or what it is instead."""
        from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey

        try:
            key = reader()
            if isinstance(key, RSAPublicKey):
                self._number(key.public_numbers().n, source)
            else:
                self.others[key if isinstance(key, str) else _kind_name(key)] += 1
        except UnreadableKeyError as error:
            self.unreadable.append(str(error))

    def _number(self, modulus: int, source: str) -> None:
        if modulus.bit_length() > MOST_BITS:
            raise UnreadableKeyError(
                f"{source}: a modulus of {modulus.bit_length():,} bits; at most {MOST_BITS:,}"
            )
        self.moduli.append(modulus)
        self.sources.append(source)

    def _add_pem(self, data: bytes, name: str) -> None:
        row, at = 1, 0
        for block in _PEM.finditer(data):
            row += data.count(b"\n", at, block.start())
            at = block.start()
            label, source = block[1].decode(), f"{name}:{row}"
            if label.endswith("PRIVATE KEY"):
                self.unreadable.append(str(_private(source)))
                continue
            if not block[3]:
                self.unreadable.append(f"{source}: the {label} that begins here has no end")
                continue
            self._take(partial(_pem_key, label, block[0], source), source)

    def _add_lines(self, data: bytes, name: str, kind: str) -> None:
        binary = b"\0" in data  # what looks like a number in it is none
        numbers: set[int] = set()  # indices of the moduli that are not of keys
        first, others = "", 0  # lines that are neither
        for row, raw in enumerate(io.BytesIO(data), 1):
            line = raw[:MOST_LINE].decode("utf-8", "replace")
            body = line.strip()
            if not body or body.startswith("#"):
                continue
            source = f"{name}:{row}"
            try:
                if len(raw) > MOST_LINE:
                    raise KeyFileError(f"{source}: this line has more than {MOST_LINE:,} bytes")
                found = None
                if kind in ("auto", "openssh"):
                    found = _SSH.search(_QUOTED.sub('""', line))
                if found:
                    _need_cryptography(source)
                    self._take(partial(_ssh_key, found[1], found[2], source), source)
                elif kind == "openssh":
                    raise KeyFileError(f"{source}: this is no OpenSSH public key")
                else:
                    self._number(_parsed(line, source, kind), source)
                    numbers.add(len(self.moduli) - 1)
            except MissingReaderError:
                raise
            except UnreadableKeyError as error:
                self.unreadable.append(str(error))
            except KeyFileError as error:
                if binary:
                    raise UnreadableKeyError(str(error)) from None
                first, others = first or str(error), others + (1 if first else 0)
        if first:
            self._note_lines(first, others, numbers)

    def _note_lines(self, first: str, others: int, numbers: set[int]) -> None:
        """Note the first line that is neither a key nor a number, how many there are besides,
        and that the numbers beside them are left out, which are the moduli at these indices."""
        more = [f"and {others:,} lines besides"] if others else []
        if numbers:
            more.append(f"the file's {len(numbers):,} numbers are passed over, too")
        self.unreadable.append(f"{first} ({'; '.join(more)})" if more else first)
        kept = [i for i in range(len(self.moduli)) if i not in numbers]
        self.moduli = [self.moduli[i] for i in kept]
        self.sources = [self.sources[i] for i in kept]


def _kind_of(data: bytes) -> str:
    if b"-----BEGIN " in data:
        return "pem"
    return "der" if data[:1] == b"\x30" and data[1:2] >= b"\x80" else "auto"


def _need_cryptography(source: str) -> None:
    if importlib.util.find_spec("cryptography") is None:
        raise MissingReaderError(f"{source}: reading keys needs `pip install 'bulkbits[keys]'`")


def _private(source: str) -> UnreadableKeyError:
    return UnreadableKeyError(
        f"{source}: a private key, which is not read; "
        f"`ssh-keygen -y` or `openssl pkey -pubout` gives its public key"
    )


def _parsed(line: str, source: str, kind: str) -> int:
    """Read a number; `Modulus=` before it, as OpenSSL prints it, means hex."""
    start = len(line) - len(line.lstrip())
    body = line.strip()
    base = 16 if kind == "hex" else 10
    if kind != "decimal":
        for prefix in ("Modulus=", "0x", "0X"):
            if body.startswith(prefix):
                base, start, body = 16, start + len(prefix), body.removeprefix(prefix)
        letters = set(body) - _DIGITS[10]
        if letters and letters <= _DIGITS[16]:
            base = 16
    sign = body[:1] if body[:1] in ("-", "+") else ""
    digits = body[len(sign) :]
    for at, letter in enumerate(digits):
        if letter not in _DIGITS[base]:
            column = start + len(sign) + at + 1
            what = "no digit" if at else "no key and no number"
            raise KeyFileError(f"{source}, column {column}: {letter!r} is {what}")
    if not digits:
        raise KeyFileError(f"{source}, column {start + len(sign) + 1}: a digit is missing")
    bits = (len(digits.lstrip("0")) - 1) * _BITS_PER_DIGIT[base]
    if bits > MOST_BITS:
        raise UnreadableKeyError(f"{source}: a modulus of {bits:,.0f} bits; at most {MOST_BITS:,}")
    return int(gmpy2.mpz(sign.replace("+", "") + digits, base))


def _pem_key(label: str, block: bytes, source: str) -> Any:
    """Return the key of a PEM block, or what it is instead of a key."""
    from cryptography import x509
    from cryptography.hazmat.primitives import serialization

    readers: dict[str, Callable[[], Any]] = {
        "PUBLIC KEY": lambda: serialization.load_pem_public_key(block),
        "CERTIFICATE": lambda: x509.load_pem_x509_certificate(block).public_key(),
        "CERTIFICATE REQUEST": lambda: x509.load_pem_x509_csr(block).public_key(),
    }
    readers["RSA PUBLIC KEY"] = readers["PUBLIC KEY"]
    readers["X509 CERTIFICATE"] = readers["CERTIFICATE"]
    readers["NEW CERTIFICATE REQUEST"] = readers["CERTIFICATE REQUEST"]
    if label not in readers:
        return label
    return _read(readers[label], label.lower(), source)


def _der_key(data: bytes, source: str) -> Any:
    """Return the key of a public key, certificate or request in DER."""
    from cryptography import x509
    from cryptography.hazmat.primitives import serialization

    if _PRIVATE_DER.match(data):
        raise _private(source)
    readers: tuple[Callable[[], Any], ...] = (
        lambda: serialization.load_der_public_key(data),
        lambda: x509.load_der_x509_certificate(data).public_key(),
        lambda: x509.load_der_x509_csr(data).public_key(),
    )
    for reader in readers:
        with contextlib.suppress(UnreadableKeyError):
            return _read(reader, "DER key", source)
    raise UnreadableKeyError(
        f"{source}: neither a public key nor a certificate, nor a request for one"
    )


def _ssh_key(kind: str, encoded: str, source: str) -> Any:
    from cryptography.hazmat.primitives import serialization

    def read() -> Any:
        key = serialization.load_ssh_public_identity(f"{kind} {encoded}".encode())
        return key.public_key() if isinstance(key, serialization.SSHCertificate) else key

    return _read(read, f"{kind} key", source)


def _read(reader: Callable[[], Any], what: str, source: str) -> Any:
    from cryptography.exceptions import UnsupportedAlgorithm

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of keys that are weak or badly put: they are wanted
        try:
            return reader()
        except UnsupportedAlgorithm:
            return what
        except (KeyboardInterrupt, SystemExit, MemoryError):
            raise
        # `cryptography` has many ways to refuse (InvalidVersion, NotImplementedError, ...), and
        # panics of its Rust part are no Exceptions.
        except BaseException as error:
            reason = " ".join(str(error).split()).partition(". ")[0] or type(error).__name__
            raise UnreadableKeyError(f"{source}: this {what} cannot be read: {reason}") from None


def _kind_name(key: Any) -> str:
    """Return Ed25519 for Ed25519PublicKey, and so on."""
    return type(key).__name__.removesuffix("PublicKey")
