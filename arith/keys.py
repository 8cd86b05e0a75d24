"""Reading the moduli of public keys, certificates and lists of numbers.

PEM, DER and OpenSSH are read by `cryptography` (the extra `keys`). Private keys are
refused unread: whoever checks keys for others should not be given those.
"""

from __future__ import annotations

import importlib.util
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

_PEM = re.compile(
    rb"-----BEGIN ([A-Z0-9 ]+)-----(.*?)(-----END \1-----|(?=-----BEGIN )|\Z)", re.DOTALL
)
_SSH = re.compile(r"(?:^|\s)((?:ssh|ecdsa|sk)-[A-Za-z0-9@.-]+)\s+(AAAA[A-Za-z0-9+/]+=*)(?=\s|$)")
_PRIVATE_DER = re.compile(rb"\x30(?:[\x00-\x7f]|\x81.|\x82..|\x83...)\x02\x01[\x00\x01]", re.DOTALL)
_DIGITS = {10: frozenset("0123456789"), 16: frozenset("0123456789abcdefABCDEF")}
_BITS_PER_DIGIT = {10: 3.3219, 16: 4.0}


class KeyFileError(ValueError):
    """A file that holds no keys, or what is none: one line, with file and line."""


class UnreadableKeyError(KeyFileError):
    """A key that is damaged or too long, or that `cryptography` refuses (an exponent of 1)."""


@dataclass(slots=True)
class Keys:
    """moduli[i] was found at sources[i], "FILE" or "FILE:LINE"; others, what was passed over:
    how many keys of each other kind; unreadable, a line for each key that cannot be read."""

    moduli: list[int] = field(default_factory=list)
    sources: list[str] = field(default_factory=list)
    others: Counter[str] = field(default_factory=Counter)
    unreadable: list[str] = field(default_factory=list)

    def add(self, data: bytes, name: str, kind: str = "auto") -> None:
        """The keys in `data`; name: of its file, for sources and messages.

        kind: one of FORMATS. lines: numbers in decimal, or hex where they begin with 0x or
        have a letter; decimal and hex: all of them that. openssh: as in authorized_keys or
        known_hosts. auto: what it looks like; OpenSSH keys and numbers may be mixed.
        A key that cannot be read is noted, and does not lose the others.
        Raises KeyFileError where there is neither a key nor a number, and where a line or
        a private key is not to be read; UnreadableKeyError where no key can be.
        """
        if kind == "auto":
            kind = _kind_of(data)
        if kind in ("pem", "der"):
            _need_cryptography(name)
        before, noted = len(self.moduli) + self.others.total(), len(self.unreadable)
        if kind == "pem":
            self._add_pem(data, name)
        elif kind == "der":
            self._take(lambda: _der_key(data, name), name)
        else:
            self._add_lines(data, name, kind)
        if len(self.moduli) + self.others.total() > before:
            return
        if len(self.unreadable) > noted:
            first = self.unreadable[noted]
            del self.unreadable[noted:]
            raise UnreadableKeyError(first)
        raise KeyFileError(f"{name}: there is no key and no number in it")

    def _take(self, reader: Callable[[], Any], source: str) -> None:
        """What reader() returns: a key as `cryptography` has it, or what it is instead."""
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
                raise _private(source)
            if not block[3]:
                self.unreadable.append(f"{source}: the {label} that begins here has no end")
                continue
            self._take(partial(_pem_key, label, block[0], source), source)

    def _add_lines(self, data: bytes, name: str, kind: str) -> None:
        for row, line in enumerate(data.decode("utf-8", "replace").split("\n"), 1):
            body = line.strip()
            if not body or body.startswith("#"):
                continue
            source = f"{name}:{row}"
            found = _SSH.search(line) if kind in ("auto", "openssh") else None
            if found:
                _need_cryptography(source)
                self._take(partial(_ssh_key, found[1], found[2], source), source)
            elif kind == "openssh":
                raise KeyFileError(f"{source}: this is no OpenSSH public key")
            else:
                self._number(_parsed(line, source, kind), source)


def _kind_of(data: bytes) -> str:
    if b"-----BEGIN " in data:
        return "pem"
    return "der" if data[:1] == b"\x30" and data[1:2] >= b"\x80" else "auto"


def _need_cryptography(source: str) -> None:
    if importlib.util.find_spec("cryptography") is None:
        raise KeyFileError(f"{source}: reading keys needs `pip install 'bulkbits[keys]'`")


def _private(source: str) -> KeyFileError:
    return KeyFileError(
        f"{source}: a private key, which is not read; "
        f"`openssl pkey -pubout` or `ssh-keygen -e` give its public key"
    )


def _parsed(line: str, source: str, kind: str) -> int:
    """A number; `Modulus=` before it, as OpenSSL prints it, means hex."""
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
        raise KeyFileError(f"{source}: a modulus of {bits:,.0f} bits; at most {MOST_BITS:,}")
    return int(gmpy2.mpz(sign.replace("+", "") + digits, base))


def _pem_key(label: str, block: bytes, source: str) -> Any:
    """The key of a PEM block, or what it is instead of a key."""
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
    """The key of a public key, certificate or request in DER."""
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
        try:
            return _read(reader, "DER key", source)
        except KeyFileError:
            continue
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
        except ValueError as error:
            reason = " ".join(str(error).split()).partition(". ")[0]
            raise UnreadableKeyError(f"{source}: this {what} cannot be read: {reason}") from None


def _kind_name(key: Any) -> str:
    """Ed25519 of Ed25519PublicKey, and so on."""
    return type(key).__name__.removesuffix("PublicKey")
