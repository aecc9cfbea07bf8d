"""What confines a model's commands: bubblewrap or Landlock on Linux, sandbox-exec on macOS.

Inside, the workspace (but for git's hooks and what configures git and duetto) and a temporary
folder can be written; what is secret in the home folder is not there; there is no network unless
it is asked for. What a machine's sandbox cannot do is in its words.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, Protocol

from tui.core.programs import Confinement, Launch, Sandbox, is_below, safe_path
from tui.effects.commands.guard import confine, remove

_PROOF_S = 20.0
"""A sandbox that needs longer for nothing does not work."""
_SECRETS = """
.ssh .aws .azure .gnupg .kube .docker .netrc .pgpass .git-credentials .npmrc .pypirc .vault-token
.terraform.d .password-store .mozilla .thunderbird .cargo/credentials .cargo/credentials.toml
.gem/credentials .m2/settings.xml .gradle/gradle.properties .config/gh .config/glab-cli .config/hub
.config/gcloud .config/op .config/rclone .config/sops .config/git/credentials .config/chromium
.config/google-chrome .config/BraveSoftware .config/microsoft-edge .config/github-copilot
.local/share/keyrings .local/share/fish .bash_history .zsh_history .zhistory .python_history
.node_repl_history .psql_history .mysql_history .sqlite_history .Xauthority .ICEauthority .claude
.claude.json .codex .gemini .local/share/opencode Library/Keychains Library/Cookies Library/Safari
Library/Messages Library/Mail Library/Application~Support/Google/Chrome
Library/Application~Support/Firefox Library/Application~Support/BraveSoftware
""".replace("~", "\0").split()
"""In the home folder: keys, keyrings, browsers, histories of shells, other agents."""
_PROTECTED = (".duetto/", ".git/hooks/", ".git/config", ".git/modules/", ".git/config.worktree")
"""In the workspace: what has programs run outside of the sandbox. Folders end with a slash."""
_NEVER_MADE = (".duetto/", ".git/", ".git/hooks/", ".git/config")
"""What cannot be made either, where it is missing."""
_LEADS_AWAY = ".git/commondir"
"""With it git looks elsewhere for hooks and configuration; it cannot be there while git is used."""
_EMPTIED = ("/tmp", "/var/tmp", "/run")
_LOOKED_UP = (
    "/run/current-system",
    "/run/opengl-driver",
    "/run/systemd/resolve",
    "/run/resolvconf",
)
"""Kept of /run, where otherwise the sockets of services are."""
_CACHES = {"TMPDIR": "/tmp", "XDG_CACHE_HOME": "/tmp/.cache", "npm_config_cache": "/tmp/.npm"}


class Place:
    """The workspace, and what is to be kept from commands that run in it."""

    def __init__(self, root: str, home: str, own: Iterable[str]) -> None:
        """``own``: duetto's folders of settings, state and data."""
        self.root = os.path.realpath(root)
        self.home = os.path.realpath(home)
        below = [os.path.join(home, name.replace("\0", " ")) for name in _SECRETS]
        names = [*below, *own, "/etc/shadow", "/etc/gshadow"]
        self.secrets = sorted({os.path.realpath(name) for name in names if os.path.exists(name)})

    @property
    def refusal(self) -> str:
        """Why no sandbox can help here; empty: one can."""
        if self.root == "/":
            return "the workspace is the whole disk, which no sandbox can keep from commands"
        return "" if os.path.isdir(self.root) else "the workspace is not there"

    @property
    def remark(self) -> str:
        """What is special here, as a part of a sentence."""
        if is_below(self.home, self.root):
            return "; the workspace holds your home folder: its hidden files cannot be written"
        return "" if os.access(self.root, os.W_OK) else "; the workspace is read-only"

    def protected(self) -> Iterator[str]:
        """What is in the workspace, and cannot be written."""
        names = [os.path.join(self.root, name.rstrip("/")) for name in _PROTECTED]
        if os.path.isfile(git := os.path.join(self.root, ".git")):
            names = [git, *names]
        if is_below(self.home, self.root):
            with contextlib.suppress(OSError):
                names += [e.path for e in os.scandir(self.home) if e.name.startswith(".")]
        yield from (name for name in names if os.path.exists(name))


Note = Callable[[str, str], None]
"""Told what is to be removed should duetto be gone: a kind and a path (`guard.message`)."""


def _unnoted(_kind: str, _path: str) -> None:
    pass


class ConfinedCommand(NamedTuple):
    """What is started in a sandbox."""

    argv: Sequence[str]
    folder: str
    """Absolute."""
    confined: Confinement
    note: Note = _unnoted
    shadow: str = ""
    """Where the workspace's folder is in the shadow that it runs in; all in it may be written."""


class Tool(Protocol):
    """One way to confine."""

    sandbox: Sandbox

    def launch(self, command: ConfinedCommand) -> Launch:
        """How a command is started in it. Raises OSError."""


def find_sandbox(
    root: str, own: Iterable[str] = (), environment: Mapping[str, str] | None = None
) -> Tool:
    """The best that works on this machine; starts programs, so for a thread."""
    environment = os.environ if environment is None else environment
    place = Place(root, environment.get("HOME") or os.path.expanduser("~"), own)
    if place.refusal:
        return NoSandbox(f"no sandbox: {place.refusal}")
    path = safe_path(environment, root)
    tool: Tool
    if sys.platform == "darwin":
        found = shutil.which("sandbox-exec", path=path)
        tool = Seatbelt(found, place) if found else NoSandbox("no sandbox: sandbox-exec is missing")
        why = failing(tool, place) if found else ""
        return NoSandbox(f"no sandbox: sandbox-exec does not work here ({why})") if why else tool
    found = shutil.which("bwrap", path=path)
    why = "bubblewrap is not installed"
    if found:
        tool = Bubblewrap(found, place, _tools(place, environment))
        if not (why := failing(tool, place)):
            return tool
        why = f"bubblewrap does not work here: {why}"
    version = landlock_version()
    for program in (socket_filter(), b"") if version >= _LANDLOCK_NET else ():
        tool = Landlock(place, version, why, program)
        if not failing(tool, place):
            return tool
    more = "" if found else ": install it (the package is called bubblewrap)"
    return NoSandbox(f"no sandbox: {why}{more}")


def _tools(place: Place, environment: Mapping[str, str]) -> list[str]:
    """What runs the workspace's programs, and would be missing: environments below /tmp."""
    folders = [environment.get("VIRTUAL_ENV", ""), environment.get("CONDA_PREFIX", "")]
    folders += safe_path(environment).split(":")
    for name in (".venv", "venv"):
        folders.append(os.path.dirname(os.path.realpath(f"{place.root}/{name}/bin/python")))
    folders += [os.path.dirname(os.path.realpath(f"{folder}/python")) for folder in folders]
    found = set[str]()
    for folder in filter(os.path.isdir, folders):
        whole = folder.rstrip("/").removesuffix("/bin")
        if any(is_below(whole, top) and whole != top for top in _EMPTIED):
            found.add(whole)
    return sorted(name for name in found if not is_below(place.root, name))


def failing(tool: Tool, place: Place) -> str:
    """Why a sandbox is none, proved by a command in it; empty: it works."""
    witness = os.path.join(_outside(place), f".duetto-{os.urandom(6).hex()}")
    proof = '(: >"$1") 2>/dev/null; cat /proc/net/dev 2>/dev/null; exit 7'
    try:
        argv = ("/bin/sh", "-c", proof, "sh", witness)
        launch = tool.launch(ConfinedCommand(argv, place.root, Confinement(writable=False)))
    except OSError as error:
        return error.strerror or str(error)
    try:
        ran = subprocess.run(
            launch.argv,
            cwd=place.root,
            env={"PATH": "/bin:/usr/bin", "LC_ALL": "C"},
            preexec_fn=None
            if launch.ruleset < 0
            else lambda: confine(launch.ruleset, launch.forbids),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_PROOF_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return "it hangs"
    except (OSError, subprocess.SubprocessError) as error:
        return getattr(error, "strerror", None) or str(error)
    finally:
        launch.tidy()
    with contextlib.suppress(OSError):
        os.unlink(witness)
        return "it lets commands write anywhere"
    if ran.returncode != 7:
        said = ran.stderr.strip().splitlines()
        return said[-1].removeprefix("bwrap: ")[:200] if said else f"exit {ran.returncode}"
    interfaces = [line.partition(":")[0].strip() for line in ran.stdout.splitlines()[2:]]
    if isinstance(tool, Bubblewrap) and set(interfaces) - {"lo"}:
        return "it does not cut off the network"
    return ""


def _outside(place: Place) -> str:
    """A folder outside of the workspace, one that we may write if there is any."""
    folders = (os.path.dirname(place.root), place.home, tempfile.gettempdir())
    outside = [folder for folder in folders if not is_below(folder, place.root)]
    return next((folder for folder in outside if os.access(folder, os.W_OK)), outside[0])


class NoSandbox:
    """Nothing confines."""

    def __init__(self, words: str) -> None:
        self.sandbox = Sandbox(works=False, words=words)

    def launch(self, command: ConfinedCommand) -> Launch:
        """Raises OSError: nothing may run unconfined by mistake."""
        raise OSError(self.sandbox.words)


class Bubblewrap:
    """Namespaces of its own, which end with the command and all that it started."""

    def __init__(self, program: str, place: Place, tools: Sequence[str] = ()) -> None:
        """``tools``: folders that are seen though they lie where it shows an empty one."""
        self._program = program
        self._place = place
        self._tools = tools
        self._made: Counter[str] = Counter()
        """What stands for what cannot be made -> commands that run over them."""
        self._lock = threading.Lock()
        self.sandbox = Sandbox(
            works=True,
            words="bubblewrap: only the workspace and a temporary folder can be written, no network"
            + place.remark,
            emptied=_EMPTIED,
        )

    def launch(self, command: ConfinedCommand) -> Launch:
        """See `Tool`."""
        argv, folder, confined, note, shadow = command
        place, root = self._place, shadow or self._place.root
        on_disk = confined.writable and not shadow
        made = self._make(note) if on_disk else []
        leads_away = os.path.join(root, _LEADS_AWAY)
        stray = leads_away if on_disk and not os.path.lexists(leads_away) else ""
        if stray:
            note("file", stray)
        around = [secret for secret in place.secrets if is_below(root, secret)]
        inside = [secret for secret in place.secrets if secret not in around]
        shared = () if confined.network else ("--unshare-net",)
        arguments: list[str] = [
            *("--die-with-parent", "--unshare-pid", "--unshare-ipc", *shared),
            *("--cap-drop", "ALL", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"),
        ]
        for name in _EMPTIED:
            if os.path.realpath(name) == name and os.path.isdir(name):
                arguments += ["--tmpfs", name]
        for name in (*_LOOKED_UP, *self._tools):
            arguments += ["--ro-bind-try", name, name]
        arguments += _hide(around)
        arguments += ["--bind" if confined.writable else "--ro-bind", root, root]
        arguments += _hide(inside)
        if on_disk:
            git = os.path.join(root, ".git")
            if os.path.isdir(git) and git not in made:  # so that it cannot be moved away
                arguments += ["--bind", git, git]
            for name in {*place.protected(), *made}:
                if not any(is_below(name, secret) for secret in inside):
                    arguments += ["--ro-bind", name, name]
        return Launch(
            (self._program, *arguments, "--chdir", folder, "--", *argv),
            _CACHES,
            tidy=lambda: self._unmake(made, stray),
        )

    def _make(self, note: Note) -> list[str]:
        """Have something empty lie where nothing may be made; it goes with the last command."""
        made = []
        with self._lock:
            for name in _NEVER_MADE:
                path = os.path.join(self._place.root, name.rstrip("/"))
                if os.path.dirname(path) in self._made:
                    continue
                if path not in self._made and os.path.lexists(path):
                    continue
                note("empty", path)
                if path not in self._made and not _stands(path, folder=name.endswith("/")):
                    continue
                self._made[path] += 1
                made.append(path)
        return made

    def _unmake(self, made: Iterable[str], stray: str) -> None:
        with self._lock:
            for path in made:
                self._made[path] -= 1
                if self._made[path] <= 0:
                    del self._made[path]
                    remove("empty", path)
            if stray:
                remove("file", stray)


def _stands(path: str, *, folder: bool) -> bool:
    """Make something empty; False: there is something, or it cannot be made."""
    with contextlib.suppress(OSError):
        if folder:
            os.mkdir(path)
        else:
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644))
        return True
    return False


def _hide(paths: Iterable[str]) -> list[str]:
    """Arguments of bubblewrap: folders are empty there, files too."""
    hidden: list[str] = []
    for path in paths:
        if os.path.isdir(path):
            hidden += ["--tmpfs", path]
        elif os.path.lexists(path):
            hidden += ["--ro-bind", "/dev/null", path]
    return hidden


def _temporary(note: Note) -> tuple[str, dict[str, str]]:
    """A folder for one command, and the variables by which it is used."""
    folder = os.path.realpath(tempfile.mkdtemp(prefix="duetto-command-"))
    note("tree", folder)
    return folder, {name: value.replace("/tmp", folder, 1) for name, value in _CACHES.items()}


_LANDLOCK_NET = 4
"""The version that knows TCP."""
_EXECUTE, _READ_FILE, _READ_DIR = 1, 4, 8
_OF_A_FILE = 0xC007
"""Execute, write, read, truncate, ioctl."""
_RULESET, _ADD_RULE = 444, 445
_STAYS_OPEN = ".git with its hooks and configuration, and .duetto"
_LEAVES = frozenset({"hook", "config", "own", "moved"})
_SOCKET_CALLS = {"x86_64": (0xC000003E, 41), "aarch64": (0xC00000B7, 198)}
"""By machine: how the kernel names it, and the number of ``socket``."""
_IO_URING, _OTHER_NUMBERS = 425, 0x40000000
_ALLOW, _FORBID = 0x7FFF0000, 0x00050001


def socket_filter() -> bytes:
    """For seccomp: no socket can be made, of whatever kind; empty: not on this machine."""
    machine, socket = _SOCKET_CALLS.get(os.uname().machine, (0, 0))
    load, equal, from_on, end = 0x20, 0x15, 0x35, 0x06
    program = (
        (load, 0, 0, 4),
        (equal, 0, 5, machine),
        (load, 0, 0, 0),
        (from_on, 3, 0, _OTHER_NUMBERS),
        (equal, 2, 0, socket),
        (equal, 1, 0, _IO_URING),
        (end, 0, 0, _ALLOW),
        (end, 0, 0, _FORBID),
    )
    return b"".join(struct.pack("HBBI", *step) for step in program) if machine else b""


class Landlock:
    """The kernel's own limits for a process and what it starts; it needs no program."""

    def __init__(self, place: Place, version: int, why: str, no_sockets: bytes = b"") -> None:
        """``why`` there is no bubblewrap; ``no_sockets`` is what seccomp does beside it."""
        self._place = place
        self._version = version
        self._libc = ctypes.CDLL(None, use_errno=True)
        self.sandbox = Sandbox(
            works=True,
            words="Landlock: only the workspace and a temporary folder can be written, no"
            f" {'network' if no_sockets else 'TCP'}; not kept from commands: "
            f"{'' if no_sockets else 'UDP, sockets of services, '}{_STAYS_OPEN} ({why})"
            f"{place.remark}",
            leaves=_LEAVES if no_sockets else _LEAVES | {"udp", "socket"},
        )
        self._no_sockets = no_sockets

    def launch(self, command: ConfinedCommand) -> Launch:
        """See `Tool`."""
        confined, shadow = command.confined, command.shadow
        temporary, variables = _temporary(command.note)
        secrets = self._place.secrets
        every = (1 << (16 if self._version >= 5 else 15)) - 1
        net = 0 if confined.network else 3
        size = 24 if self._version >= 6 else 16
        attributes = struct.pack("QQQ", every, net, 3)[:size]  # 3: abstract sockets, signals
        ruleset = self._call(_RULESET, attributes, size, 0)
        forbids = self._no_sockets if not confined.network else b""

        def tidy() -> None:
            os.close(ruleset)
            remove("tree", temporary)

        try:
            self._allow(ruleset, "/", _EXECUTE | _READ_DIR)
            for path in _without("/", secrets):
                self._allow(ruleset, path, _READ_FILE)
            writable = [self._place.root] if confined.writable and not shadow else []
            for path in [temporary, *writable]:
                self._allow(ruleset, path, every & ~_READ_FILE)
            self._allow(ruleset, temporary, every)
            for name in ("null", "zero", "tty", "ptmx", "pts", "shm", "urandom", "random", "full"):
                if os.path.exists(f"/dev/{name}"):
                    self._allow(ruleset, f"/dev/{name}", every)
        except OSError:
            tidy()
            raise

        rights = every if confined.writable else _EXECUTE | _READ_FILE | _READ_DIR
        opens = (shadow, rights) if shadow else None
        return Launch(tuple(command.argv), variables, ruleset, forbids, opens, tidy)

    def _allow(self, ruleset: int, path: str, rights: int) -> None:
        try:
            opened = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except OSError:
            return
        try:
            if not os.path.isdir(path):
                rights &= _OF_A_FILE
            if rights:
                self._call(_ADD_RULE, ruleset, 1, struct.pack("=Qi", rights, opened), 0)
        finally:
            os.close(opened)

    def _call(self, number: int, *arguments: object) -> int:
        result = self._libc.syscall(number, *arguments)
        if result < 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
        return int(result)


def landlock_version() -> int:
    """Of the kernel; 0: it has none, or it is off."""
    if not sys.platform.startswith("linux"):
        return 0
    with contextlib.suppress(OSError, AttributeError):
        return max(0, int(ctypes.CDLL(None).syscall(_RULESET, None, 0, 1)))
    return 0


def _without(top: str, secrets: Sequence[str]) -> Iterator[str]:
    """The largest parts of a folder in which nothing secret lies."""
    if any(is_below(top, secret) for secret in secrets):
        return
    if not any(is_below(secret, top) for secret in secrets):
        yield top
        return
    with contextlib.suppress(OSError):
        for entry in os.scandir(top):
            if not entry.is_symlink():
                yield from _without(entry.path, secrets)


class Seatbelt:
    """macOS's sandbox-exec."""

    def __init__(self, program: str, place: Place) -> None:
        self._program = program
        self._place = place
        self.sandbox = Sandbox(
            works=True,
            words="sandbox-exec: only the workspace and a temporary folder can be written,"
            f" no network{place.remark}",
        )

    def launch(self, command: ConfinedCommand) -> Launch:
        """See `Tool`."""
        temporary, variables = _temporary(command.note)
        profile = seatbelt_profile(self._place, command.confined, temporary, command.shadow)
        return Launch(
            (self._program, "-p", profile, *command.argv),
            variables,
            tidy=lambda: remove("tree", temporary),
        )


def seatbelt_profile(place: Place, confined: Confinement, temporary: str, shadow: str = "") -> str:
    """What a command may do, in the language of sandbox-exec: of two rules the later one holds."""
    never = [
        *(os.path.join(place.root, name.rstrip("/")) for name in _PROTECTED),
        *place.protected(),
    ]
    writable = [temporary, *([shadow or place.root] if confined.writable else [])]
    around = [secret for secret in place.secrets if is_below(place.root, secret)]
    lines = [
        "(version 1)",
        "(allow default)",
        "" if confined.network else "(deny network*)",
        '(deny mach-lookup (global-name "com.apple.SecurityServer"))',
        "(deny file-write*)",
        '(allow file-write* (literal "/dev/null") (literal "/dev/zero") (regex #"^/dev/tty"))',
        _rule("deny file-read*", around),
        _rule("allow file-read*", [place.root] if around else []),
        _rule("allow file-write*", writable),
        _rule("deny file-write*", never),
        _rule("deny file-read* file-write*", set(place.secrets) - set(around)),
    ]
    return "\n".join(line for line in lines if line)


def _rule(what: str, paths: Iterable[str]) -> str:
    quoted = [path.replace("\\", "\\\\").replace('"', '\\"') for path in sorted(paths)]
    filters = " ".join(f'(subpath "{path}")' for path in quoted)
    return f"({what} {filters})" if quoted else ""
