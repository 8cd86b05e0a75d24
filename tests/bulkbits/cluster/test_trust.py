"""Who may have work done by a cluster: who holds its certificates, and nobody else."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import signal
import socket
import ssl
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("distributed")
pytest.importorskip("cryptography")

import dask
import psutil
from distributed import Security
from distributed.comm.core import connect as dask_connect

from bulkbits.cluster import Cluster, ClusterError, tls
from tests.bulkbits.cluster import tasks
from tests.bulkbits.cluster.certificates import DAY, Authority
from tests.clusters import two_workers  # noqa: F401
from tests.waiting import until

# --- local:N ---------------------------------------------------------------------------


def ports_of(cluster: Cluster) -> set[tuple[str, int]]:
    """Return where this process and the workers of a cluster listen."""
    return {
        (found.laddr.ip, found.laddr.port)
        for pid in {os.getpid(), *(facts.pid for facts in cluster.workers)}
        for found in psutil.Process(pid).net_connections("inet")
        if found.status == psutil.CONN_LISTEN
    }


def answer(port: tuple[str, int], said: bytes) -> bytes:
    """Return what somebody who connects and says this hears until nothing more comes."""
    heard = b""
    with socket.create_connection(port, timeout=30) as connection:
        connection.sendall(said)
        try:
            while part := connection.recv(1 << 16):
                heard += part
        except ConnectionResetError:
            pass
    return heard


def strangers() -> dict[str, dict[str, Any]]:
    """Return how somebody who has not a cluster's certificate may try to speak to it with Dask:
    arguments of connect()."""
    nameless = ssl.create_default_context()
    nameless.check_hostname, nameless.verify_mode = False, ssl.CERT_NONE
    other = Security.temporary().get_connection_args("client")
    credulous = other["ssl_context"]
    credulous.verify_mode = ssl.CERT_NONE
    return {
        "tcp": {},
        "tls": {"ssl_context": nameless},
        "tls with another certificate": other,
        "tls, whoever answers": other | {"ssl_context": credulous},
    }


def test_on_this_machine_nobody_else_is_answered(two_workers: Cluster) -> None:  # noqa: F811
    """Neither without TLS, as a browser is, nor with certificates that others have made."""
    ports = ports_of(two_workers)
    assert len(ports) >= 1 + 2 + 2, "a scheduler, two workers, and who looks after each of them"
    assert {host for host, _ in ports} == {"127.0.0.1"}
    for port in ports:
        for said in (b"GET / HTTP/1.1\r\nHost: here\r\n\r\n", bytes(64)):
            heard = answer(port, said)
            assert (heard[:1], len(heard)) in ((b"", 0), (b"\x15", 7)), "no more than an alert"
        for how, given in strangers().items():
            address = f"{how[:3]}://{port[0]}:{port[1]}"
            with pytest.raises(OSError):  # noqa: PT011  (which one depends on who was faster)
                asyncio.run(dask_connect(address, timeout=30, **given))
    assert two_workers.dashboard is None
    assert list(two_workers.map(tasks.double, [4])) == [8]


def test_modules_are_looked_for_where_nobody_else_writes(two_workers: Cluster) -> None:  # noqa: F811
    """Dask puts its scratch folders, by default in one that all users share, before all others."""
    found = 0
    for paths in (*two_workers.everywhere(tasks.import_path).values(), sys.path):
        for path in (path for path in paths if "dask-scratch-space" in path):
            folder = os.stat(path[: path.index("dask-scratch-space")])
            assert (folder.st_uid, stat.S_IMODE(folder.st_mode)) == (os.getuid(), 0o700)
            found += 1
    assert found >= 2


def test_without_cryptography(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "cryptography"]:
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ClusterError, match=r"needs cryptography.*'bulkbits\[dist\]'") as caught:
        Cluster.open("local:1")
    assert caught.value.exit_code == 3


# --- tls:// ------------------------------------------------------------------------------


class Secured:
    """A scheduler and a worker of certificates that one authority has signed."""

    address = ""
    open_address = ""  # of another, that takes whoever comes

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.ours, self.others = Authority(folder, "ours"), Authority(folder, "others")
        self.signed = {role: self.ours.signs(role) for role in ("scheduler", "worker", "client")}

    def options(self, role: str) -> list[str]:
        cert, key = self.signed[role]
        return ["--tls-ca-file", self.ours.path, "--tls-cert", cert, "--tls-key", key]


def configuration(ca: str, cert: str, key: str, **more: object) -> Any:
    """Return Dask's configuration with these certificates of a client, for a block."""
    names = {"ca-file": ca, "client.cert": cert, "client.key": key}
    found: dict[str, object] = {f"distributed.comm.tls.{name}": names[name] for name in names}
    return dask.config.set(found | {f"distributed.comm.{name}": more[name] for name in more})


@pytest.fixture(scope="module")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secured]:
    folder = tmp_path_factory.mktemp("secured")
    made = Secured(folder)
    running: list[subprocess.Popen[bytes]] = []

    def launch(*command: str) -> None:
        process = subprocess.Popen(
            [sys.executable, "-m", *command],
            env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
            cwd=folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        running.append(process)

    def scheduler(name: str, *options: str) -> None:
        launch(
            "distributed.cli.dask_scheduler", "--scheduler-file", name, "--host", "127.0.0.1",
            "--port", "0", "--dashboard-address", "127.0.0.1:0", *options,
        )  # fmt: skip

    def address(name: str) -> str:
        path = folder / name
        until(lambda: path.exists() and path.read_text().endswith("}"))
        found: str = json.loads(path.read_text())["address"]
        return found

    try:
        scheduler("secured.json", "--protocol", "tls", *made.options("scheduler"))
        launch(
            "distributed.cli.dask_worker", "--scheduler-file", "secured.json", "--nthreads", "1",
            "--no-dashboard", "--local-directory", str(folder), *made.options("worker"),
        )  # fmt: skip
        scheduler("open.json")
        made.address, made.open_address = address("secured.json"), address("open.json")
        yield made
    finally:
        for process in running:
            process.kill()
            process.wait()


def test_a_command_by_dask_s_environment(secured: Secured) -> None:
    """The address that people write, and the variables that docs/cluster.md names."""
    assert secured.address.startswith("tls://")
    cert, key = secured.signed["client"]
    given = {
        f"DASK_DISTRIBUTED__COMM__TLS__{name}": path
        for name, path in (
            ("CA_FILE", secured.ours.path), ("CLIENT__CERT", cert), ("CLIENT__KEY", key),
        )
    }  # fmt: skip
    assert all(name in Path("docs/cluster.md").read_text() for name in given)
    (secured.folder / "moduli").write_text("15\n77\n21\n")
    command = [sys.executable, "-m", "arith", "shared-primes", "moduli", "--json"]
    done = subprocess.run(
        [*command, "--backend", "cpu", "--cluster", secured.address],
        cwd=secured.folder,
        env=os.environ | given | {"PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1, done  # found
    assert len(json.loads(done.stdout)["findings"]) == 2


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("openssl"), reason="needs openssl")
def test_the_commands_of_the_documentation(tmp_path: Path) -> None:
    """Those on TLS in docs/cluster.md, as they are printed but for the ports."""
    _, section = Path("docs/cluster.md").read_text().split("### TLS\n")
    block = section.partition("```bash\n")[2].partition("```")[0]
    assert "127.0.0.1:8787 &" in block
    block = block.replace("127.0.0.1:8787 &", "127.0.0.1:0 --port 0 &")
    with open(tmp_path / "said", "wb") as said:
        shell = subprocess.Popen(
            ["bash", "-e", "-c", block],
            cwd=tmp_path,
            env=os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"},
            stdout=said,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    try:
        code = shell.wait(timeout=120)
    finally:
        os.killpg(shell.pid, signal.SIGKILL)  # the scheduler and the workers, too
        shell.wait()
    assert code == 0
    assert "on 1 host" in (tmp_path / "said").read_text()
    assert stat.S_IMODE(os.stat(tmp_path / "tls.key").st_mode) == 0o600
    found = json.loads((tmp_path / "secured.json").read_text())
    assert found["address"].startswith("tls://")


def test_certificates_of_the_configuration(secured: Secured) -> None:
    with (
        configuration(secured.ours.path, *secured.signed["client"]),
        Cluster.open(str(secured.folder / "secured.json"), backend="cpu") as cluster,
    ):
        assert list(cluster.map(tasks.double, range(9))) == [2 * i for i in range(9)]
        assert cluster.workers[0].address.startswith("tls://")


def refused(address: str, says: str, *files: str, **more: object) -> None:
    with (
        configuration(*files, **more) if files else dask.config.set(),
        pytest.raises(ClusterError, match=says) as caught,
    ):
        Cluster.open(address)
    assert caught.value.exit_code == 3
    assert "\n" not in str(caught.value)


def test_certificates_that_do_not_fit(secured: Secured, tmp_path: Path) -> None:
    """Each is said at once, in one line that names the file at fault."""
    ours, client = secured.ours, secured.signed["client"]
    refused(secured.address, "TLS needs certificates: set DASK_DISTRIBUTED__COMM__TLS__CA_FILE")
    missing = str(tmp_path / "missing.pem")
    for i, what in enumerate(("ca-file", r"client\.cert", r"client\.key")):
        files = [ours.path, *client]
        files[i] = missing
        refused(secured.address, rf"^{re.escape(missing)}: No such file.* Dask's {what}", *files)
    others = secured.others.signs("stranger")
    refused(secured.address, r"certificate is none of .*/others\.pem", secured.others.path, *others)
    refused(secured.address, r"refuses the certificate .*/stranger\.pem", ours.path, *others)
    refused(secured.address, "key values mismatch", ours.path, client[0], others[1])
    refused(secured.address, "cannot be used.*no certificate", client[1], *client)
    locked = ours.signs("locked", passphrase=b"secret")
    refused(secured.address, r"locked\.key: it has a passphrase", ours.path, *locked)
    late = ours.signs("late", lasts=-DAY)
    refused(secured.address, r"refuses the certificate .*/late\.pem.*expired", ours.path, *late)


def test_one_side_speaks_tls(secured: Secured) -> None:
    files = secured.ours.path, *secured.signed["client"]
    plain = secured.address.replace("tls:", "tcp:")
    refused(plain, "takes TLS only: write tls://")
    refused(plain, "requires encryption: write tls://", *files, **{"require-encryption": True})
    refused(secured.open_address.replace("tcp:", "tls:"), "does not speak TLS", *files)


def test_a_configuration_that_dask_refuses(secured: Secured) -> None:
    files = secured.ours.path, *secured.signed["client"]
    refused(secured.address, "min-version=7 is not supported", *files, **{"tls.min-version": 7})


def test_certificates_that_a_program_finds(secured: Secured) -> None:
    """Dask's configuration may name one; then nothing is said of files."""
    with dask.config.set({"distributed.client.security-loader": "somewhere.loader"}):
        assert tls.configured(secured.address) is None
