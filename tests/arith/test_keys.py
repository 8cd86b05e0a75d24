"""Reading keys: the moduli that were put in, or one line that says what is wrong."""

from __future__ import annotations

import base64
import builtins
import datetime
import re
import struct
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arith.keys import MOST_BITS, KeyFileError, Keys

pytest.importorskip("cryptography")

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.x509.oid import NameOID

from tests.quick import examples

moduli = st.integers(2, 1 << 300).map(lambda half: 2 * half + 1)


def tlv(tag: int, body: bytes) -> bytes:
    """DER: tag, length, value."""
    size = len(body)
    if size < 128:
        return bytes([tag, size]) + body
    length = size.to_bytes((size.bit_length() + 7) // 8, "big")
    return bytes([tag, 128 + len(length)]) + length + body


def der_integer(number: int) -> bytes:
    return tlv(2, number.to_bytes(number.bit_length() // 8 + 1, "big"))


def pkcs1(modulus: int, exponent: int = 3) -> bytes:
    return tlv(0x30, der_integer(modulus) + der_integer(exponent))


def spki(modulus: int) -> bytes:
    algorithm = bytes.fromhex("300d06092a864886f70d0101010500")
    return tlv(0x30, algorithm + tlv(3, b"\0" + pkcs1(modulus)))


def pem(label: str, der: bytes) -> bytes:
    body = base64.encodebytes(der).decode()
    return f"-----BEGIN {label}-----\n{body}-----END {label}-----\n".encode()


def ssh(modulus: int, kind: str = "ssh-rsa") -> bytes:
    def field(data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + data

    def number(value: int) -> bytes:
        return field(value.to_bytes(value.bit_length() // 8 + 1, "big"))

    blob = field(kind.encode()) + number(3) + number(modulus)
    return kind.encode() + b" " + base64.b64encode(blob)


def read(data: bytes, kind: str = "auto") -> Keys:
    keys = Keys()
    keys.add(data, "file", kind)
    return keys


@pytest.fixture(scope="module")
def key() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(65537, 1024)


def public_pem(key) -> bytes:
    return key.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )


def certificate(key) -> x509.Certificate:
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "a test")])
    begin = datetime.datetime(2020, 1, 1)
    builder = x509.CertificateBuilder(
        name, name, key.public_key(), 1, begin, begin + datetime.timedelta(days=9)
    )
    return builder.sign(key, hashes.SHA256())


def request(key) -> x509.CertificateSigningRequest:
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "a test")])
    return x509.CertificateSigningRequestBuilder(name).sign(key, hashes.SHA256())


# --- what holds keys ------------------------------------------------------------


@given(st.lists(moduli, min_size=1, max_size=4))
def test_a_bundle_of_pem(values: list[int]) -> None:
    labels = ("PUBLIC KEY", "RSA PUBLIC KEY")
    blocks = [
        b"a comment\n" + pem(labels[i % 2], (spki, pkcs1)[i % 2](value))
        for i, value in enumerate(values)
    ]
    keys = read(b"".join(blocks))
    assert keys.moduli == values
    rows = [b"".join(blocks[:i]).count(b"\n") + 2 for i in range(len(blocks))]
    assert keys.sources == [f"file:{row}" for row in rows]


@given(moduli, st.sampled_from([spki, pkcs1]), st.sampled_from(["auto", "der"]))
def test_der(value: int, form, kind: str) -> None:
    data = form(value)
    if kind == "auto" and data[1] < 0x80:
        return  # so short that it could be text; no key is
    keys = read(data, kind)
    assert (keys.moduli, keys.sources) == ([value], ["file"])


@given(st.lists(moduli, min_size=1, max_size=4), st.sampled_from(["auto", "openssh"]))
def test_lines_of_openssh(values: list[int], kind: str) -> None:
    forms = (
        "{} someone@host",
        'from="1.2.3.4,x y",no-pty {} a comment, with ssh-rsa in it',
        "host.example,10.0.0.1 {}",
        "|1|aGFzaA==|aGFzaA== {}",
        "@cert-authority *.example {}\r",
    )
    lines = ["# known hosts", ""]
    lines += [forms[i % 5].format(ssh(value).decode()) for i, value in enumerate(values)]
    keys = read("\n".join(lines).encode(), kind)
    assert keys.moduli == values
    assert keys.sources == [f"file:{i + 3}" for i in range(len(values))]


def test_certificates_and_requests(key) -> None:
    modulus = key.public_key().public_numbers().n
    for made in (certificate(key), request(key)):
        text = made.public_bytes(serialization.Encoding.PEM)
        assert read(text).moduli == [modulus]
        assert read(text.replace(b"BEGIN CERTIFICATE REQ", b"BEGIN NEW CERTIFICATE REQ").replace(
            b"END CERTIFICATE REQ", b"END NEW CERTIFICATE REQ"
        )).moduli == [modulus]  # fmt: skip
        assert read(made.public_bytes(serialization.Encoding.DER)).moduli == [modulus]


def test_keys_of_other_kinds_are_counted(key) -> None:
    curve, edwards = ec.generate_private_key(ec.SECP256R1()), ed25519.Ed25519PrivateKey.generate()
    line = edwards.public_key().public_bytes(
        serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH
    )
    keys = read(public_pem(curve) + public_pem(key) + public_pem(edwards) + public_pem(curve))
    keys.add(line, "ssh")
    keys.add(pem("EC PARAMETERS", b"\x06\x08"), "parameters")
    assert keys.moduli == [key.public_key().public_numbers().n]
    assert keys.others == {"EC": 2, "Ed25519": 2, "EC PARAMETERS": 1}


def test_lines_of_numbers() -> None:
    text = b"# moduli\n\n15\n 0x15\n0XFf\nff\n1e5\nModulus=0123\n-7\n+7\r\n"
    keys = read(text)
    assert keys.moduli == [15, 0x15, 255, 255, 0x1E5, 0x123, -7, 7]
    assert keys.sources[:2] == ["file:3", "file:4"]
    assert read(b"15\n-15\n", "hex").moduli == [0x15, -0x15]
    assert read(b"15\n", "decimal").moduli == [15]


@given(st.lists(st.integers(0, 1 << 20_000), min_size=1, max_size=5), st.booleans())
def test_long_numbers(values: list[int], as_hex: bool) -> None:
    """Numbers beyond what int() takes are read, too."""
    sys.set_int_max_str_digits(0)
    try:
        lines = [hex(value) if as_hex else str(value) for value in values]
    finally:
        sys.set_int_max_str_digits(4300)
    assert read("\n".join(lines).encode()).moduli == values


def test_keys_and_numbers_may_be_mixed() -> None:
    assert read(b"77\n" + ssh(35) + b"\n").moduli == [77, 35]


# --- what does not ----------------------------------------------------------------


def refused(data: bytes, says: str, kind: str = "auto") -> None:
    with pytest.raises(KeyFileError, match=f"^{re.escape('file')}{says}") as caught:
        read(data, kind)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("data", "kind", "says"),
    [
        (b"", "auto", ": there is no key"),
        (b"# nothing\n\n", "lines", ": there is no key"),
        (b"\n\nhello\n", "auto", ":3, column 1: 'h' is no key and no number"),
        (b"12\n 12a4x\n", "auto", ":2, column 4: 'a' is no digit"),
        (b"12f\n", "decimal", ":1, column 3: 'f' is no digit"),
        (b"0x\n", "auto", ":1, column 3: a digit is missing"),
        (b"-\n", "auto", ":1, column 2: a digit is missing"),
        (b"0x12\n", "decimal", ":1, column 2: 'x' is no digit"),
        ("٣\n".encode(), "auto", ":1, column 1: "),
        (b"\xff\xfe\x00", "auto", ":1, column 1: "),
        (b"\x7fELF\x02\x01", "auto", ":1, column 1: "),
        (b"12\n", "openssh", ":1: this is no OpenSSH public key"),
        (b"ssh-rsa AAAAB3NzaC1yc2E= x\n", "auto", ":1: this ssh-rsa key cannot be read: "),
        (b"\x30\x82\x01\x0a\x02\x82", "auto", ": neither a public key nor a certificate"),
        (b"12\n", "der", ": neither a public key nor a certificate"),
        (b"12\n", "pem", ": there is no key"),
        (b"\n-----BEGIN PUBLIC KEY-----\nAAAA\n", "auto", ":2: the PUBLIC KEY .* no end"),
        (pem("PUBLIC KEY", b"\x30\x03\x02\x01\x05"), "auto", ":1: this public key cannot"),
        (pem("CERTIFICATE", b"rubbish"), "auto", ":1: this certificate cannot be read: "),
        (pem("RSA PUBLIC KEY", pkcs1(2**1024 + 1, 2)), "auto", ":1: this rsa .* e must be"),
        (b"1" * 400_000, "auto", ":1: a modulus of [0-9,]+ bits; at most 1,048,576"),
        (b"0x1" + b"0" * (MOST_BITS // 4), "auto", ":1: a modulus of 1,048,57[67] bits"),
        (pem("RSA PUBLIC KEY", pkcs1(2**MOST_BITS + 1)), "auto", ":1: a modulus of 1,048,577 b"),
    ],
)  # fmt: skip
def test_what_is_no_key_is_one_line(data: bytes, kind: str, says: str) -> None:
    refused(data, says, kind)


@given(st.binary(max_size=200), st.sampled_from([b"", b"\x30\x82", b"-----BEGIN PUBLIC KEY-----"]))
def test_rubbish_is_refused_or_read(data: bytes, start: bytes) -> None:
    try:
        keys = read(start + data)
    except KeyFileError:
        return  # anything else would be a crash
    assert keys.moduli


def test_a_key_that_cannot_be_read_does_not_lose_the_others() -> None:
    good, weak = pem("RSA PUBLIC KEY", pkcs1(35)), pem("RSA PUBLIC KEY", pkcs1(2**1024 + 1, 1))
    long = pem("RSA PUBLIC KEY", pkcs1(2**MOST_BITS + 1))
    cut = good[: len(good) // 2] + b"\n"
    keys = read(b"".join([good, weak, long, cut, good, cut]))
    assert keys.moduli == [35, 35]
    lines = [line.partition(": ")[2][:30] for line in keys.unreadable]
    assert [line.split()[0] for line in lines] == ["this", "a", "the", "the"]
    assert all(re.match(r"file:\d+: ", line) for line in keys.unreadable)
    keys = read(ssh(35) + b"\nssh-rsa AAAAB3NzaC1yc2E= x\n" + ssh(77) + b"\n")
    assert keys.moduli == [35, 77]
    assert [line[:8] for line in keys.unreadable] == ["file:2: "]


def test_what_comes_after_what_cannot_be_read_is_read(key) -> None:
    private = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    keys = read(private + public_pem(key))
    assert keys.moduli == [key.public_key().public_numbers().n]
    assert keys.unreadable == [
        "file:1: a private key, which is not read; "
        "`ssh-keygen -y` or `openssl pkey -pubout` gives its public key"
    ]
    keys = read(b"what is this?\n" + ssh(35) + b"\n12\n1" + b"0" * 2**20 + b"\n" + ssh(77))
    assert keys.moduli == [35, 77]
    assert keys.sources == ["file:2", "file:5"]
    assert keys.unreadable == [
        "file:1, column 1: 'w' is no key and no number"
        " (and 1 lines besides; the file's 1 numbers are passed over, too)"
    ]
    keys = read(b"what is this?\n" + ssh(35), "openssh")
    assert (keys.moduli, len(keys.unreadable)) == ([35], 1)


def test_a_modulus_that_is_too_long_does_not_lose_the_others() -> None:
    keys = read(b"15\n0x1" + b"0" * (MOST_BITS // 4) + b"\n21\n")
    assert keys.moduli == [15, 21]
    assert [line[:8] for line in keys.unreadable] == ["file:2: "]


def test_nothing_is_added_where_nothing_is_readable() -> None:
    keys = Keys()
    for data in (b"15\nx\n", b"1\n\0", pem("CERTIFICATE", b"rubbish"), b"#"):
        with pytest.raises(KeyFileError):
            keys.add(data, "file")
    assert keys == Keys()


def test_a_certificate_of_an_invalid_version(key) -> None:
    good = certificate(key).public_bytes(serialization.Encoding.DER)
    version = bytes.fromhex("a003020102")
    assert good.count(version) == 1
    bad = good.replace(version, bytes.fromhex("a003020107"))
    refused(pem("CERTIFICATE", bad), ":1: this certificate cannot be read: ")
    refused(bad, ": neither a public key nor a certificate")
    assert read(pem("CERTIFICATE", bad) + public_pem(key)).moduli == [
        key.public_key().public_numbers().n
    ]


def test_what_cryptography_does_not_know_as_its_own_error(monkeypatch, key) -> None:
    """Its panics are no Exceptions; an interrupt is no fault of a key."""

    class PanicException(BaseException):
        pass

    for error, says in (
        (PanicException("bad luck"), "bad luck"),
        (NotImplementedError(), "NotImpl"),
    ):

        def failing(data: bytes, error: BaseException = error) -> None:
            raise error

        monkeypatch.setattr(serialization, "load_pem_public_key", failing)
        refused(public_pem(key), f":1: this public key cannot be read: {says}")
    for error in (KeyboardInterrupt(), MemoryError()):
        monkeypatch.setattr(
            serialization, "load_pem_public_key", lambda data, error=error: failing(data, error)
        )
        with pytest.raises(type(error)):
            read(public_pem(key))


def test_what_is_quoted_before_a_key_is_none() -> None:
    for options in (b'command="ssh ssh-rsa %b x"', b'no-pty,environment="A=\\" ssh-rsa %b x"'):
        line = options % ssh(15).split()[1] + b" " + ssh(35) + b' it\'s "his"\n'
        assert read(line).moduli == [35]


@given(
    st.sampled_from(
        ["pem", "pkcs1", "certificate", "request", "ssh", "der", "known_hosts", "ecdsa", "lines"]
    ),
    st.lists(
        st.tuples(
            st.sampled_from(["change", "insert", "cut", "drop", "repeat"]),
            st.floats(0, 1),
            st.binary(min_size=1, max_size=4),
        ),
        max_size=4,
    ),
    st.sampled_from(["auto", "pem", "der", "openssh", "lines", "hex"]),
    st.data(),
)
@settings(max_examples=examples(200))
def test_mutated_keys_are_read_or_refused(key, form: str, changes: list, kind: str, data) -> None:
    """Change what is encoded in base64, as changes of the code would be seen at once."""
    encoded = data.draw(st.booleans())
    whole = SEEDS[form](key)
    binary = form != "lines" and encoded
    if binary:
        whole = inner(whole)
    for what, place, some in changes:
        at = int(place * len(whole))
        whole = {
            "change": whole[:at] + some + whole[at + len(some) :],
            "insert": whole[:at] + some + whole[at:],
            "cut": whole[:at],
            "drop": whole[:at] + whole[at + len(some) :],
            "repeat": whole + whole[at:],
        }[what]
    if binary:
        whole = outer(form, whole)
    keys = Keys()
    keys.add(b"15", "before")
    try:
        keys.add(whole, "file", kind)
    except KeyFileError as error:
        keys.unreadable.append(str(error))
        assert keys.moduli == [15]
    assert all(line.startswith("file") for line in keys.unreadable)
    assert len(keys.moduli) == len(keys.sources)
    assert not any("\n" in line for line in keys.unreadable)


SEEDS = {
    "pem": public_pem,
    "pkcs1": lambda key: pem("RSA PUBLIC KEY", pkcs1(2**512 + 1)),
    "certificate": lambda key: certificate(key).public_bytes(serialization.Encoding.PEM),
    "request": lambda key: request(key).public_bytes(serialization.Encoding.PEM),
    "ssh": lambda key: ssh(2**512 + 1) + b" me@here\n",
    "der": lambda key: pem("PUBLIC KEY", spki(2**512 + 1)),
    "known_hosts": lambda key: b"here,10.0.0.1 " + ssh(2**512 + 1) + b"\n",
    "ecdsa": lambda key: (
        ec.derive_private_key(7, ec.SECP256R1())
        .public_key()
        .public_bytes(serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH)
    ),
    "lines": lambda key: b"# moduli\n15\n0x15\n" + b"7" * 200 + b"\n",
}
LABELS = {"certificate": "CERTIFICATE", "request": "CERTIFICATE REQUEST", "pkcs1": "RSA PUBLIC KEY"}


def inner(text: bytes) -> bytes:
    """Return what is in the base64 of a PEM block or an OpenSSH line."""
    if text.startswith(b"-----"):
        return base64.b64decode(b"".join(text.strip().split(b"\n")[1:-1]))
    return base64.b64decode(text[text.index(b"AAAA") :].split()[0])


def outer(form: str, data: bytes) -> bytes:
    if form == "der":
        return data
    if form in ("ssh", "known_hosts"):
        return b"here ssh-rsa " + base64.b64encode(data)
    if form == "ecdsa":
        return b"ecdsa-sha2-nistp256 " + base64.b64encode(data)
    return pem(LABELS.get(form, "PUBLIC KEY"), data)


def test_the_longest_modulus_is_read() -> None:
    assert read(b"0x" + b"f" * (MOST_BITS // 4)).moduli == [2**MOST_BITS - 1]


def test_private_keys_are_refused(key) -> None:
    formats = serialization.PrivateFormat
    for form in (formats.PKCS8, formats.TraditionalOpenSSL, formats.OpenSSH):
        for cipher in (serialization.NoEncryption(), serialization.BestAvailableEncryption(b"x")):
            if form is formats.OpenSSH and cipher.__class__.__name__ != "NoEncryption":
                continue  # needs bcrypt
            data = key.private_bytes(serialization.Encoding.PEM, form, cipher)
            refused(data, ":1: a private key, which is not read")
    for form in (formats.PKCS8, formats.TraditionalOpenSSL):
        data = key.private_bytes(serialization.Encoding.DER, form, serialization.NoEncryption())
        refused(data, ": a private key, which is not read")


def test_without_cryptography_numbers_can_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    import importlib.util

    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    imported = builtins.__import__

    def without(name: str, *rest):
        assert not name.startswith("cryptography")
        return imported(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    assert read(b"15\n0x23\n").moduli == [15, 35]
    for data in (pem("PUBLIC KEY", spki(35)), ssh(35), spki(1 << 1024)):
        refused(data, r"(:1)?: reading keys needs `pip install 'bulkbits\[keys\]'`")
