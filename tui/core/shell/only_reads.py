"""What a command line would do: whether it only reads, and which allowed prefixes cover it.

The line is read by a grammar that is smaller than the shell's and equal to it where it holds:
words with their quotes, variables, globs, ``|``, ``&&``, ``||``, ``;``, and the few redirections
that write nothing. All else (substitutions, brackets, here-documents, ``&``) is not judged, and
what is not judged is asked about. So no parser can be led to see less than the shell does.
`reads.toml` says which programs only read, and with which words.
"""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache
from importlib import resources
from itertools import islice

from msgspec import Struct, field
from msgspec.structs import replace

from tui.core.typed_data import from_toml

MOST_CHARS = 4_000
"""A longer command line is not judged."""
_MOST_COMMANDS = 50
_MOST_PLACES = 8
_SHELLS = frozenset({"sh", "bash", "dash"})
"""Those whose grammar holds the one below; ``-c`` and ``-lc`` read nothing that aliases."""


class Judgement(Struct, frozen=True):
    """What is known of a command line before it runs."""

    reads: bool
    """It only reads: by the table, whatever lies in the folder."""
    why: str = ""
    """What made it not so, for the user: ``rm is not known to only read``."""
    programs: tuple[tuple[str, ...], ...] = ()
    """The words of each simple command, where they are known; else empty: no prefix covers it."""
    reading: tuple[bool, ...] = ()
    """Of each of `programs`: it only reads."""
    plain: bool = False
    """It is nothing but those: nothing is written to, set or substituted."""
    files: tuple[str, ...] = ()
    """What it prints the content of, as written, from the folder that it starts in.

    They may be folders, or be missing. Whether they are private, or outside, is not judged here.
    """
    writes: tuple[str, ...] = ()
    """Where its redirections write to, as written."""
    sweeps: bool = False
    """It prints the contents of files that it finds itself (``grep -r``, ``cat *``)."""
    folders: tuple[str, ...] = ()
    """Where it may go by ``cd``, as written."""


class _Rule(Struct, forbid_unknown_fields=True):
    """A program of `reads.toml`, which says what the fields mean."""

    names: list[str] = []
    options: list[str] | None = None
    after: list[str] | None = None
    whole: bool = False
    refused: list[str] = []
    without: str = ""
    operands: int | None = None
    each: str = ""
    script: str = ""
    prints: bool = False
    skips: list[str] | None = None
    sweeps: bool = False
    calm: list[str] = []
    stirring: list[str] = []
    expands: bool = False
    then: dict[str, _Rule] | None = None


class _ReadTable(Struct, forbid_unknown_fields=True):
    variables: list[str]
    groups: dict[str, _Rule]
    prefix_words: dict[str, int]
    never_prefix: dict[str, list[str]]


class _Word(Struct):
    text: str = ""
    bare: str = ""
    """Its unquoted part."""
    expands: bool = False
    globs: bool = False
    started: bool = False


class _Simple(Struct):
    """A simple command."""

    words: list[_Word] = field(default_factory=list)
    sets: list[str] = field(default_factory=list)
    takes: list[str] = field(default_factory=list)
    """Files on its stdin."""
    writes: list[str] = field(default_factory=list)


class _NotJudgedError(Exception):
    """Why, in words."""


@cache
def _table() -> tuple[Mapping[str, _Rule], _ReadTable]:
    raw = resources.files("tui.core.shell").joinpath("reads.toml").read_bytes()
    table = from_toml(raw, _ReadTable)
    return {name: rule for rule in table.groups.values() for name in rule.names}, table


def judge(command: str) -> Judgement:
    """Judge a line for ``bash -c`` or ``sh -c``. Never raises."""
    try:
        if len(command) > MOST_CHARS:
            raise _NotJudgedError("it is too long to be looked through")
        simples = list(islice(_Reader(command), _MOST_COMMANDS + 1))
        if not simples:
            raise _NotJudgedError("there is no command in it")
        if len(simples) > _MOST_COMMANDS:
            raise _NotJudgedError("it has too many commands to be looked through")
        return _weigh(simples)
    except _NotJudgedError as reason:
        return Judgement(False, str(reason))


def for_argv(argv: Sequence[str]) -> str:
    """An argv as a command line: ``["bash", "-lc", "X"]`` is X."""
    if len(argv) == 3 and argv[1] in ("-c", "-lc") and posixpath.basename(argv[0]) in _SHELLS:
        return argv[2]
    return shlex.join(argv)


def prefix_of(judgement: Judgement) -> tuple[str, ...]:
    """The prefix to offer for what does not only read in it; empty: none would be wise."""
    if not judgement.plain:
        return ()
    found = {
        _prefix(words)
        for words, reads in zip(judgement.programs, judgement.reading, strict=True)
        if not reads
    }
    return found.pop() if len(found) == 1 else ()


def allowed(judgement: Judgement, prefixes: Collection[tuple[str, ...]], root: str = "") -> bool:
    """Whether each simple command of it only reads or begins with one of the prefixes.

    None covers what goes to a folder outside of ``root``. What it prints is not looked at here.
    """
    if judgement.reads:
        return True
    if not judgement.plain or any(_leaves(folder, root) for folder in judgement.folders):
        return False
    return all(
        reads or any(prefix and words[: len(prefix)] == tuple(prefix) for prefix in prefixes)
        for words, reads in zip(judgement.programs, judgement.reading, strict=True)
    )


def _leaves(folder: str, root: str) -> bool:
    path = posixpath.normpath(folder)
    if path.startswith("/"):
        return not root or not (path == root or path.startswith(root.rstrip("/") + "/"))
    return path.startswith(("~", "..", "-"))


def _prefix(words: tuple[str, ...]) -> tuple[str, ...]:
    _, table = _table()
    if not words or _not_offered(words[0]):
        return _module_of(words)
    count = 1
    for length in (1, 2):
        count = max(count, table.prefix_words.get(" ".join(words[:length]), 1))
    prefix = words[:count]
    short = len(prefix) < count or any(word.startswith("-") for word in prefix)
    return () if short or any(_not_offered(word) for word in prefix[1:]) else prefix


def _not_offered(program: str) -> bool:
    return posixpath.basename(program) in _table()[1].never_prefix["names"]


def _module_of(words: tuple[str, ...]) -> tuple[str, ...]:
    """``python -m pytest``: the one prefix of an interpreter."""
    known = len(words) > 2 and " ".join(words[:2]) in _table()[1].prefix_words
    return words[:3] if known and words[1] == "-m" else ()


_PIECE = re.compile(
    r"""
    (?P<joined>\\\n) | (?P<gap>[ \t]+) | (?P<end>&&|\|\||[;|\n])
    | (?P<merge>[0-9]*>&[0-9](?=[\s;|&]|$)) | (?P<redirect>[0-9]*(?:>>|>|<)|&>)
    | '(?P<single>[^']*)'
    | "(?P<double>(?:[^"\\$`]|\\[\s\S]
        |\$(?:[A-Za-z_]\w*|\{[A-Za-z_]\w*\}|[0-9?#$!@*-]|(?![\w{(\[?#$!@*-])))*+)"
    | \\(?P<escaped>[^\n]) | (?P<glob>[*?\[])
    | (?P<variable>\$(?:[A-Za-z_]\w*|\{[A-Za-z_]\w*\}|[0-9?#$!@*-]))
    | (?P<dollar>\$(?=[\s;|&/.,:=+%^~]|$)) | (?P<hash>\#)
    | (?P<bare>(?:[\w./,:=+@%^~{}!\]-]|[^\x00-\x7f])+)
    """,
    re.VERBOSE | re.ASCII,
)
_UNESCAPE = re.compile(r'\\(?:([$`"\\])|\n)')
_HAS_VARIABLE = re.compile(r"\$[\w{?#$!@*-]")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=", re.ASCII)
_WHY_NOT = {
    "$": "it has another command or expression inside ($…)",
    "`": "it has another command inside (`…`)",
    "(": "it has brackets",
    ")": "it has brackets",
    "&": "it leaves a command running (&)",
    "'": "a quote is not closed",
    '"': "a quote is not closed, or it has another command inside",
    "\\": "it ends in the middle of a word",
}


class _Reader:
    """The simple commands of a line."""

    def __init__(self, command: str) -> None:
        self._command = command
        self._simple = _Simple()
        self._word = _Word()
        self._redirect = ""

    def __iter__(self) -> Iterator[_Simple]:
        at = 0
        wanted = False
        while at < len(self._command):
            piece = _PIECE.match(self._command, at)
            if piece is None:
                char = self._command[at]
                raise _NotJudgedError(_WHY_NOT.get(char, "it cannot be parsed"))
            at = piece.end()
            kind = piece.lastgroup or ""
            if kind == "hash" and not self._word.started:
                at = self._command.find("\n", at) % (len(self._command) + 1)
            elif kind == "end":
                if simple := self._finished(piece["end"], wanted):
                    yield simple
                wanted = piece["end"] in ("|", "&&", "||") or (wanted and piece["end"] == "\n")
            else:
                self._take(kind, piece)
        if simple := self._finished("\n", wanted):
            yield simple
        elif wanted:
            raise _NotJudgedError("it ends in the middle")

    def _finished(self, end: str, wanted: bool) -> _Simple | None:
        self._end_word()
        if self._redirect:
            raise _NotJudgedError("it cannot be parsed")
        simple, self._simple = self._simple, _Simple()
        if simple.words or simple.sets or simple.takes or simple.writes:
            return simple
        if end != "\n":
            raise _NotJudgedError("it cannot be parsed")
        return None

    def _take(self, kind: str, piece: re.Match[str]) -> None:
        match kind:
            case "joined":
                return
            case "gap":
                self._end_word()
                return
            case "merge" | "redirect":
                if self._word.started or self._redirect:
                    raise _NotJudgedError("it redirects in a way that is not looked into")
                self._redirect = piece["redirect"] or ""
                return
        word = self._word
        word.started = True
        text = piece[kind]
        match kind:
            case "double":
                plain = re.sub(r"\\[\s\S]", "", text)
                word.expands |= bool(_HAS_VARIABLE.search(plain))
                text = _UNESCAPE.sub(lambda found: found[1] or "", text)
            case "variable":
                word.expands = True
            case "glob":
                word.globs = True
            case "bare":
                word.bare += text
        word.text += text

    def _end_word(self) -> None:
        word, self._word = self._word, _Word()
        if not word.started:
            return
        word.globs &= word.text != "["  # that is a program, and finds nothing
        if "{" in word.bare and ("," in word.bare or ".." in word.bare):
            raise _NotJudgedError("it has a list in brackets")
        if not word.bare.isprintable() or re.match(r"~[^/]", word.bare):
            raise _NotJudgedError("it cannot be parsed")
        if self._redirect:
            if word.expands or word.globs:
                raise _NotJudgedError("it redirects to a name that is not known yet")
            target = self._simple.takes if self._redirect.endswith("<") else self._simple.writes
            target.append(word.text)
            self._redirect = ""
        elif not self._simple.words and _ASSIGNMENT.match(word.bare):
            self._simple.sets.append(word.text)
        else:
            self._simple.words.append(word)


def _weigh(simples: list[_Simple]) -> Judgement:
    places, folders, files, writes = {""}, [], [], []
    plain, sweeps, whys = True, False, []
    programs, reading = [], []
    for simple in simples:
        why = _does_more(simple)
        plain = plain and not why
        finding = _Finding(simple)
        why = why or finding.why
        programs.append(finding.argv)
        reading.append(not why)
        whys += [why] if why else []
        sweeps |= finding.sweeps
        files += [posixpath.join(place, file) for file in finding.files for place in places]
        targets = [name for name in simple.writes if name != "/dev/null"]
        writes += [posixpath.join(place, name) for name in targets for place in places]
        if finding.argv[:1] == ("cd",):
            folder = finding.argv[1] if len(finding.argv) > 1 else "~"
            # it may fail, and what follows run all the same
            places |= {posixpath.join(place, folder) for place in places}
            folders = sorted(places - {""})
            if len(places) > _MOST_PLACES:
                raise _NotJudgedError("it changes the folder too often")
    return Judgement(
        reads=not whys,
        why=whys[0] if whys else "",
        programs=tuple(programs),
        reading=tuple(reading),
        plain=plain,
        files=tuple(dict.fromkeys(files)),
        writes=tuple(dict.fromkeys(writes)),
        sweeps=sweeps,
        folders=tuple(folders),
    )


def _does_more(simple: _Simple) -> str:
    """What it does beside running a program; empty: nothing."""
    for name in simple.writes:
        if name != "/dev/null":
            return f"it writes to {name}"
    for setting in simple.sets:
        if setting not in _table()[1].variables:
            return f"it sets {setting.partition('=')[0].rstrip('+')}"
    return "" if simple.words else "it runs no program"


class _Finding:
    """What the table says of one simple command."""

    def __init__(self, simple: _Simple) -> None:
        self.why = ""
        self.files = list(simple.takes)
        self.sweeps = False
        words = simple.words
        literal = all(not word.expands and not _may_be_option(word) for word in words)
        self.argv = tuple(word.text for word in words) if literal else ()
        if words:
            self.why = self._judge(words[0], words[1:])
        for file in self.files:
            if file != "/dev/null" and re.match(r"/+(dev|proc|sys)(/|$)", posixpath.normpath(file)):
                self.why = self.why or f"it reads {file}"

    def _judge(self, program: _Word, words: list[_Word]) -> str:
        rule = _table()[0].get(program.text)
        if program.text == "cd" and any(word.globs for word in words):
            return "where it goes is not known yet"
        if program.expands or program.globs or rule is None:
            return f"{_shown(program.text)} is not known to only read"
        return self._by(rule, program.text, words)

    def _by(self, rule: _Rule, name: str, words: list[_Word]) -> str:
        texts = [word.text for word in words]
        for word in words:
            if why := _word_refused(rule, name, word):
                return why
        options = [text for text in texts if _is_option(text)]
        if rule.then is not None:
            at = next((i for i, text in enumerate(texts) if not _is_one_of(text, rule)), None)
            if at is None or texts[at] not in rule.then:
                return f"{_shown(' '.join([name, *texts[:2]]))} is not known to only read"
            below = rule.then[texts[at]]
            if below.options is None and rule.after is not None:
                below = replace(below, options=rule.after)
            return self._by(below, f"{name} {texts[at]}", words[at + 1 :])
        for option in options:
            if rule.options is not None and not _is_one_of(option, rule):
                return f"{name} {_shown(option)} is not known to only read"
        operands = [text for text in texts if not _is_option(text)]
        if why := _operands_refused(rule, name, operands):
            return why
        if rule.prints:
            self._prints(rule, options, operands)
            self.sweeps |= any(word.globs for word in words)
        calm = any(_is_any(option, rule.calm, exactly=True) for option in options)
        stirred = any(_is_any(option, rule.stirring) for option in options)
        self.sweeps |= stirred or (rule.sweeps and not calm)
        return ""

    def _prints(self, rule: _Rule, options: list[str], operands: list[str]) -> None:
        skips = bool(rule.script) or (
            rule.skips is not None and not any(_is_any(option, rule.skips) for option in options)
        )
        files = operands[1:] if skips else list(operands)
        for option in options:
            name, equals, value = option.partition("=")
            files += [value] if equals else []
            files += [] if name.startswith("--") else [option[2:]]
        # git's REVISION:PATH
        files += [file.rpartition(":")[2] for file in files if ":" in file]
        self.files += [file for file in files if file and file != "-"]


def _may_be_option(word: _Word) -> bool:
    return word.globs and word.text[0] in "-*?["


def _is_option(text: str) -> bool:
    return len(text) > 1 and text.startswith("-") and text != "--"


def _is_one_of(option: str, rule: _Rule) -> bool:
    known = rule.options or []
    name = option.partition("=")[0]
    if rule.whole or not _is_option(option) or name.startswith("--"):
        return name in known
    letters = _VALUE.sub("", option[1:])
    return f"{option[:2]}*" in known or all(f"-{letter}" in known for letter in letters)


_VALUE = re.compile(r"(?:(?<=[A-Za-z])|^)[0-9][0-9,.%]*$|(?<=[A-Za-z])[,:;|]$", re.ASCII)
"""Behind a letter: ``-U5``, ``-k2,3``, ``-t:``; alone: ``-20``."""


def _is_any(option: str, listed: Sequence[str], *, exactly: bool = False) -> bool:
    """Whether it is, or may be, one of them: abbreviated, or in a cluster."""
    name = option.partition("=")[0]
    if exactly:
        return name in listed
    if name.startswith("--"):
        return any(known.startswith(name) for known in listed)
    return any(len(known) == 2 and known[1] in option[1:] for known in listed)


def _word_refused(rule: _Rule, name: str, word: _Word) -> str:
    if word.expands and not rule.expands:
        return f"what {name} gets is not known yet ({_shown(word.text)})"
    guarded = rule.refused or rule.options is not None or rule.operands is not None
    if guarded and _may_be_option(word):
        return f"a name that {word.text} finds could be an option of {name}"
    if rule.expands and ("$(" in word.text or "`" in word.text):
        return "it has a command in a text"
    if rule.without and rule.without in word.text:
        return f"{name} {_shown(word.text)} is not known to only read"
    if _is_option(word.text) and _is_any(word.text, rule.refused):
        return f"{name} {_shown(word.text)} is not known to only read"
    return ""


def _operands_refused(rule: _Rule, name: str, operands: list[str]) -> str:
    if rule.operands is not None and len(operands) > rule.operands:
        return f"{name} {_shown(operands[-1])} is not known to only read"
    if rule.script and not (operands and re.fullmatch(rule.script, operands[0])):
        return f"the script of {name} is not known to only read"
    for operand in operands if rule.each else ():
        if not re.fullmatch(rule.each, operand):
            return f"{name} {_shown(operand)} is not known to only read"
    return ""


def _shown(text: str) -> str:
    return text if len(text) <= 60 else text[:59] + "…"
