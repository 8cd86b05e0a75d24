"""Certificates for tests of TLS, as an authority of one's own makes them."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

DAY = datetime.timedelta(days=1)


class Authority:
    """Whoever signs: NAME.pem in the folder is its own certificate."""

    def __init__(self, folder: Path, name: str) -> None:
        self.folder, self.name = folder, name
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._issue(name, self._key, DAY)

    @property
    def path(self) -> str:
        return str(self.folder / f"{self.name}.pem")

    def signs(
        self, name: str, lasts: datetime.timedelta = DAY, passphrase: bytes = b""
    ) -> tuple[str, str]:
        """Return the paths of a certificate, NAME.pem, and of its key, NAME.key."""
        key = ec.generate_private_key(ec.SECP256R1())
        self._issue(name, key, lasts)
        path = self.folder / f"{name}.key"
        path.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.BestAvailableEncryption(passphrase)
                if passphrase
                else serialization.NoEncryption(),
            )
        )
        return str(self.folder / f"{name}.pem"), str(path)

    def _issue(self, name: str, key: Any, lasts: datetime.timedelta) -> None:
        def named(text: str) -> x509.Name:
            return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])

        now = datetime.datetime.now(datetime.UTC)
        made = (
            x509.CertificateBuilder()
            .subject_name(named(name))
            .issuer_name(named(self.name))
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - 9 * DAY)
            .not_valid_after(now + lasts)
            .add_extension(x509.BasicConstraints(ca=key is self._key, path_length=None), True)
            .sign(self._key, hashes.SHA256())
        )
        path = self.folder / f"{name}.pem"
        path.write_bytes(made.public_bytes(serialization.Encoding.PEM))
