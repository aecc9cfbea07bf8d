"""Files of a workspace: what the disk says of a path, what a folder holds, what is private."""

from __future__ import annotations

import hashlib
import json
import re
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Literal, NamedTuple

from msgspec import Struct, field

from tui.core.text.patterns import pattern
from tui.errors import EditRefused

_KINDS = {
    "image": "png jpg jpeg gif bmp ico icns webp avif heic tif tiff psd xcf",
    "audio": "mp3 wav ogg oga opus flac m4a aac mid",
    "video": "mp4 m4v mov mkv webm avi mpg mpeg",
    "font": "ttf otf woff woff2 eot",
    "document": "pdf doc docx odt epub ppt pptx odp",
    "spreadsheet": "xls xlsx ods",
    "archive": "zip tar gz tgz bz2 xz zst 7z rar jar war whl egg deb rpm dmg iso",
    "database": "sqlite sqlite3 db mdb",
    "data": "npy npz parquet arrow feather pkl pickle h5 hdf5 pt pth onnx safetensors gguf",
    "program": "exe dll so dylib wasm",
    "object file": "o a lib pyc pyo pyd class",
}
_BY_SUFFIX = {suffix: kind for kind, suffixes in _KINDS.items() for suffix in suffixes.split()}


def kind_by_name(path: str) -> str:
    """``PNG image``, ``ZIP archive``; empty for what may be text."""
    name = path.rpartition("/")[2]
    stem, dot, suffix = name.rpartition(".")
    kind = _BY_SUFFIX.get(suffix.lower(), "")
    return f"{suffix.upper()} {kind}" if stem and dot and kind else ""


def is_image_name(path: str) -> bool:
    """Whether a file's name says that it is an image."""
    return kind_by_name(path).endswith(" image")


def amount(size_bytes: int) -> str:
    """``640 B``, ``34.1 kB``, ``1.2 MB``; thousands, as networks count."""
    if size_bytes < 1000:
        return f"{size_bytes} B"
    for unit, factor in (("kB", 1e3), ("MB", 1e6), ("GB", 1e9)):
        if size_bytes < 999.95 * factor or unit == "GB":
            return f"{size_bytes / factor:.1f} {unit}"
    raise AssertionError("unreachable")


def counted(number: int, thing: str) -> str:
    """``1 hunk``, ``2 hunks``."""
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def first_of(names: Sequence[str], most: int) -> str:
    """The first of them: ``a.py, b.py and 3 more``."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


MAX_BYTES = 8 * 1024 * 1024
MAX_LINES = 200_000
PICTURE_BYTES = 64 * 1024
"""Of a binary file so much is shown: nearly each of its bytes is a picture of its own."""
PATH_LIMIT_CHARS = 4_000
PATH_LIMIT_DEPTH = 100
"""No file lies deeper; every folder on the way is looked up among the ignore rules."""
_CONTROL = pattern(r"[\x00-\x1f\x7f]")


def digest_of(files: Mapping[str, bytes | None], name: str = "") -> bytes:
    """A short sign of what these files say; None: there is none of that name."""
    found = hashlib.blake2b(name.encode(), digest_size=16)
    for path, data in sorted(files.items()):
        head = f"{len(path)} {-1 if data is None else len(data)} {path}"
        found.update(head.encode(errors="surrogatepass") + (data or b""))
    return found.digest()


class FileRead(Struct, frozen=True):
    """What reading a file gave."""

    data: bytes | None
    """Its bytes; None if there is no such file, or if it is refused."""
    refusal: str = ""
    """Why it is not to be had, in words; empty if it was read or is missing."""
    kind: str = "file"
    """``file`` or ``directory`` or what else lies there."""
    unwritable: str = ""
    """Why it may not be written, in words; empty if it may be."""
    head: bytes = b""
    """The first `MAX_BYTES` of a file that is refused because it is larger."""
    size_bytes: int = 0
    """Of the whole file, where only its head was read."""
    place: tuple[int, int] | None = None
    """The device and the number of the file there: the same one by whatever name."""
    real: str = ""
    """The path relative to the root with all links resolved; empty if it is not known."""
    link: bool = False
    """The name itself is a link, not only a folder on the way."""
    linked: bool = False
    """It had other names (hard links) when it was read."""
    mode: int | None = None
    """Its permissions, without what lends somebody's rights (setuid)."""


class Prepared(Struct, frozen=True):
    """What making a set of writes ready gave."""

    in_place: frozenset[str] = frozenset()
    """Paths that are written over, not replaced: other names, a foreign owner."""
    refusals: dict[str, str] = {}
    """Path -> why it cannot be written."""


class Viewed(Struct, frozen=True):
    """What is shown of a file."""

    text: str
    why: str = ""
    """Why it may only be looked at, as a sentence; empty if it may be edited."""
    exact: bool = True
    """False: it is a part of the file, or a picture of its bytes."""


def checked_path(path: str, *roots: str) -> str:
    """The path relative to the root, with ``/``, after a lexical check.

    Absolute paths are taken only under one of ``roots``, the workspace's names. Links are
    resolved by who reads and writes.

    Raises:
        EditRefused: the path leaves the workspace or is not to be edited.
    """
    if not path.strip() or _CONTROL.search(path):
        raise EditRefused(f"'{ascii_shown(path)}' is not a usable path")
    if len(path) > PATH_LIMIT_CHARS or path.count("/") > PATH_LIMIT_DEPTH:
        raise EditRefused(f"'{ascii_shown(path)}' is too long for a path")
    named = path
    for root in sorted(filter(None, roots), key=len, reverse=True):
        if path.startswith(root.rstrip("/") + "/"):
            path = path[len(root.rstrip("/")) + 1 :].lstrip("/")
            break
    if path.startswith(("/", "~", "\\")) or path[1:3] in (":\\", ":/"):
        raise EditRefused(f"'{ascii_shown(named)}' is outside the workspace")
    parts: list[str] = []
    for part in path.split("/"):
        if part == ".." and not parts:
            raise EditRefused(f"'{ascii_shown(named)}' is outside the workspace")
        if part == "..":
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    if not parts:
        raise EditRefused(f"'{ascii_shown(named)}' is not a file")
    if any(part.lower().rstrip(". ") == ".git" for part in parts):
        raise EditRefused(f"'{ascii_shown(named)}' is inside .git, which is never edited")
    return "/".join(parts)


def decoded(path: str, data: bytes) -> str:
    """The text of a file's bytes.

    Raises:
        EditRefused: binary, not UTF-8, or too large to be edited.
    """
    shown = ascii_shown(path)
    if len(data) > MAX_BYTES:
        raise EditRefused(f"'{shown}' is larger than 8 MB")
    if b"\0" in data:
        kind = kind_by_name(path)
        if not kind and data.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
            raise EditRefused(f"'{shown}' is UTF-16, not UTF-8")
        what = f"{'an' if kind[0] in 'AEIO' else 'a'} {kind}" if kind else "a binary file"
        raise EditRefused(f"'{shown}' is {what} ({amount(len(data))})")
    if (data.count(b"\n") or data.count(b"\r")) > MAX_LINES:
        raise EditRefused(f"'{shown}' has more than {MAX_LINES:,} lines")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise EditRefused(f"'{shown}' is not UTF-8 (byte {error.start + 1})") from None


def viewed(path: str, read: FileRead) -> Viewed:
    """What is shown of a file, and why it may only be looked at.

    Bytes that are no UTF-8 become lone surrogates (PEP 383), which are never written and never
    sent, only shown as pictures.

    Raises:
        EditRefused: there is nothing to look at.
    """
    shown = ascii_shown(path)
    if read.data is None and not read.head:
        raise EditRefused(read.refusal or f"file not found: '{shown}'")
    if read.data is None:
        text, part = _beginning(read.head, cut=True)
        size = f"{read.size_bytes / (1 << 20):,.0f} MB"
        why = f"'{shown}' has {size}, so it is read-only and only {part} shown"
        return Viewed(text, why, exact=False)
    try:
        return Viewed(decoded(path, read.data), unwritable(path, read))
    except EditRefused as refused:
        text, part = _beginning(read.data, cut=False)
        only = f" and only {part} shown" if part else ""
        return Viewed(text, f"{refused}, so it is read-only{only}", exact=False)


def unwritable(path: str, read: FileRead) -> str:
    """Why a file that was read may not be written, as a sentence; empty if it may be."""
    return f"'{ascii_shown(path)}' is read-only: {read.unwritable}" if read.unwritable else ""


def _beginning(data: bytes, *, cut: bool) -> tuple[str, str]:
    """As much of a file's bytes as is shown, as text, and how much that is in words.

    ``cut``: the file goes on behind them. The words are empty if all of it is shown.
    """
    if b"\0" in data and len(data) > PICTURE_BYTES:
        data, part = data[:PICTURE_BYTES], f"the first {PICTURE_BYTES >> 10} KB of it are"
    elif data.count(b"\n") > MAX_LINES:
        data = b"\n".join(data.split(b"\n", MAX_LINES)[:MAX_LINES]) + b"\n"
        part = f"its first {MAX_LINES:,} lines are"
    elif cut:
        # up to a whole line, so that no character is shown in two halves
        data = data[: data.rfind(b"\n") + 1] or data
        part = f"the first {MAX_BYTES >> 20} MB of it are"
    else:
        part = ""
    return data.decode("utf-8", "surrogateescape"), part


def ascii_shown(path: str) -> str:
    """A path with its control characters escaped."""
    short = path if len(path) <= 200 else path[:200] + "…"
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in short)


_HEADER = pattern(r'^<(file|changed)((?: [a-z_]+="(?:[^"\\]|\\.)*")+)>\n', re.MULTILINE)
_ATTRIBUTE = pattern(r' ([a-z_]+)=("(?:[^"\\]|\\.)*")')

_COUNT = pattern(r"[0-9]{1,12}")


class FileBlock(Struct, frozen=True):
    """A quoted file, or the part of one."""

    path: str
    text: str
    attributes: dict[str, str] = field(default_factory=dict)
    """The rest of the header: ``state``, ``cursor``, ``selection``, ``from``, ``to``."""
    is_difference: bool = False
    """The text says what became of the one that was quoted before."""


def file_block(path: str, text: str, *, tag: str = "file", **attributes: str) -> str:
    """Quote a text; ``from_`` becomes the attribute ``from``.

    ``tag``: ``changed`` quotes a difference.
    """
    header = {"path": path, **{name.rstrip("_"): value for name, value in attributes.items()}}
    header["chars"] = str(len(text))
    written = "".join(
        f" {name}={json.dumps(value, ensure_ascii=False)}" for name, value in header.items()
    )
    return f"<{tag}{written}>\n{text}\n</{tag}>"


def file_blocks(message: str) -> Iterator[FileBlock]:
    """The files quoted in a text, in order; damaged quotations are passed over."""
    at = 0
    while match := _HEADER.search(message, at):
        at, tag = match.end(), match[1]
        attributes = _attributes(match[2])
        chars, path = attributes.pop("chars", ""), attributes.pop("path", "")
        if not _COUNT.fullmatch(chars) or not path:
            continue
        end = at + int(chars)
        if message.startswith(f"\n</{tag}>", end):
            yield FileBlock(path, message[at:end], attributes, tag == "changed")
            at = end


def _attributes(header: str) -> dict[str, str]:
    """What a header says; nothing if a value in it is no JSON: somebody else wrote it."""
    try:
        return {found[1]: str(json.loads(found[2])) for found in _ATTRIBUTE.finditer(header)}
    except ValueError:
        return {}


EntryKind = Literal["folder", "file", "link"]
"""``link``: a symlink to a folder, which is shown and not entered."""
GitState = Literal["U", "D", "M", "A", "?"]
"""Unmerged, deleted, modified, added (staged), untracked."""
_STRONGEST: tuple[GitState, ...] = ("U", "D", "M", "A", "?")


class FolderEntry(NamedTuple):
    """One name in a folder."""

    name: str
    kind: EntryKind = "file"
    ignored: bool = False
    """Hidden, or named by an ignore file: the file finder does not offer it."""
    size_bytes: int | None = None
    """Of what is no text by its name."""


class GitPlace(NamedTuple):
    """Where git is."""

    commit: str = ""
    """Of HEAD; empty: there is none."""
    branch: str = ""
    stash: str = ""
    """The newest one; empty: there is none."""


class GitMove(NamedTuple):
    """What git did between two places."""

    words: str
    """In its own words, as its log of HEAD has them; not safe to show."""
    paths: Sequence[str]
    """Files that it changed, relative to the workspace."""


class GitStates(NamedTuple):
    """What git says of the workspace's files; what it does not name is as it was committed."""

    files: Mapping[str, GitState] = {}
    """Path relative to the workspace's root -> its state; an untracked folder stands for all
    that it holds."""
    folders: Mapping[str, GitState] = {}
    """Folder -> the strongest state below it; the root is the empty string."""

    def of(self, path: str) -> GitState | None:
        """The state of a file or folder, that of the untracked folder it lies in included."""
        state = self.files.get(path) or self.folders.get(path)
        if state is not None:
            return state
        at = path.rfind("/")
        while at > 0:
            if self.files.get(path[:at]) == "?":
                return "?"
            at = path.rfind("/", 0, at)
        return None


def summed(files: Mapping[str, GitState]) -> GitStates:
    """The states with those of the folders above them."""
    folders: dict[str, GitState] = {}
    for state in reversed(_STRONGEST):
        for path in (path for path, found in files.items() if found == state):
            folders.update(dict.fromkeys(_above(path), state))
    return GitStates(files, folders)


def _above(path: str) -> Iterable[str]:
    """The folders that a path lies in, the root as the empty string."""
    while path:
        path = path.rpartition("/")[0]
        yield path


_NAMES = {
    "credentials": (
        ".netrc _netrc .npmrc .pypirc .pgpass .my.cnf .git-credentials .htpasswd .dockercfg "
        ".boto .s3cfg credentials credentials.* secrets.* *.credentials service-account*.json "
        "client_secret*.json *.tfvars *.tfstate kubeconfig *.kubeconfig .vault-token "
        "*.publishsettings auth.json master.key"
    ),
    "environment secrets": ".env .env.* *.env .envrc .flaskenv",
    "a private key": (
        "*.pem *.key *.p12 *.pfx *.jks *.keystore *.ppk *.kdbx *.p8 "
        "id_rsa id_dsa id_ecdsa id_ed25519 id_ecdsa_sk id_ed25519_sk"
    ),
}
"""What such a file holds, by the patterns of its name (lower case)."""
_CODE = (".py", ".pyi", ".js", ".ts", ".go", ".rs", ".java", ".c", ".h", ".md", ".rst", ".txt")
"""``secrets.py`` is a program."""
_SAMPLES = (".example", ".sample", ".template", ".dist", ".defaults")
_FOLDERS = frozenset({".ssh", ".aws", ".gnupg", ".kube", ".azure", ".password-store"})


LINK_OUTSIDE = "it is a hard link, and has another name outside the workspace"
LINK_IGNORED = "it is a hard link to a file that is ignored"
FOLDER_WIDE = frozenset({LINK_OUTSIDE, LINK_IGNORED})
"""Reasons that hold for thousands of files at once (package managers link): asked once a folder."""
_IGNORE_FILES = (".gitignore", ".ignore")


def is_ignore_file(path: str) -> bool:
    """True for a file that says which other ones are ignored."""
    return path.rpartition("/")[2] in _IGNORE_FILES


def why_linked(names: Collection[str], missing: bool, ignored: Collection[str]) -> str:
    """Why a file's other names call for a question, in words; empty if they do not.

    ``names`` are those in the workspace, ``missing`` says that there are more than these, and
    ``ignored`` are those that an ignore file names.
    """
    if secret := next(filter(why_private, sorted(names)), ""):
        return f"it is a hard link to '{ascii_shown(secret)}', a private file"
    if missing:
        return LINK_OUTSIDE
    return LINK_IGNORED if ignored else ""


def why_private(path: str) -> str:
    """Why a path (relative, with ``/``) looks like a secret, in words; empty if it does not."""
    *folders, name = path.lower().split("/")
    if found := _FOLDERS.intersection(folders):
        return f"it lies in {min(found)}, where keys are kept"
    if name.endswith((*_SAMPLES, *_CODE)):
        return ""
    for what, patterns in _NAMES.items():
        if any(fnmatchcase(name, pattern) for pattern in patterns.split()):
            return f"its name says that it holds {what}"
    return ""
