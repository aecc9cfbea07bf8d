"""File names near an edit: a line that is only a name, names in a sentence, in a fence's tag.

What models write (aider's `strip_filename` and its issues 354, 1158, 2886): ``### a.py``,
``**a.py**``, ``a.py:``, `` `a.py` ``, ``File: a.py``, ``# a.py``, a tag like ``python:a.py``.
Which files exist is asked of who reads the workspace: a word that names one is its name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import NamedTuple

from tui.core.text.patterns import pattern

Exists = Callable[[str], bool]
"""Whether a name is that of a file of the workspace."""

NAME_LIMIT = 250
"""Characters; a longer line is no name (aider#1232)."""
NEAR = 3
"""Lines above an edit that may name its file (EDITS.md section 1)."""

_BARE = frozenset([
    "makefile", "Makefile", "GNUmakefile", "Dockerfile", "Containerfile", "Gemfile", "Rakefile",
    "Procfile", "Brewfile", "Justfile", "justfile", "Vagrantfile", "Jenkinsfile", "LICENSE",
    "LICENCE", "COPYING", "NOTICE", "AUTHORS", "README", "CHANGELOG", "CODEOWNERS", "Pipfile",
    "Caddyfile", "Tiltfile", "BUILD", "WORKSPACE", "CHANGES", "NEWS", "HISTORY", "VERSION",
    "INSTALL", "MANIFEST", "CONTRIBUTORS", "MAINTAINERS", "THANKS", "OWNERS", "PKGBUILD",
    "Podfile", "Cartfile", "Fastfile", "Appfile", "Dangerfile", "Guardfile", "Berksfile",
    "Capfile", "Thorfile", "Puppetfile", "Earthfile", "Snakefile", "Doxyfile", "Kconfig",
    "Kbuild", "SConstruct", "SConscript", "gradlew", "mvnw",
])  # fmt: skip
_PRODUCTS = frozenset([
    "node.js", "vue.js", "next.js", "nuxt.js", "express.js", "react.js", "three.js", "d3.js",
    "asp.net", "socket.io", "chart.js", "ember.js", "backbone.js", "discord.js", "alpine.js",
    "nest.js", "solid.js", "electron.js", "moment.js", "day.js", "p5.js", "vb.net", "ml.net",
    ".net", "angular.js", "matter.js", "tensorflow.js",
])  # fmt: skip
"""What looks like a file and is a heading."""
_EXTENSIONS = frozenset([
    "ada", "adoc", "asm", "astro", "awk", "bash", "bat", "bib", "bzl", "c", "cc", "cfg", "cjs",
    "clj", "cljs", "cmake", "cmd", "conf", "config", "coffee", "cpp", "cr", "cs", "cshtml",
    "csproj", "css", "csv", "cts", "cu", "cxx", "d", "dart", "diff", "dockerfile", "editorconfig",
    "ejs", "el", "elm", "env", "erb", "erl", "ex", "exs", "f90", "fish", "fs", "fsx", "gd",
    "gemspec", "gitignore", "glsl", "go", "gql", "gradle", "graphql", "groovy", "h", "haml",
    "hbs", "hcl", "hh", "hpp", "hrl", "hs", "htm", "html", "hxx", "idl", "ini", "ipynb", "j2",
    "java", "jinja", "jl", "js", "json", "json5", "jsonc", "jsonl", "jsx", "kt", "kts", "less",
    "lhs", "lisp", "lock", "lua", "m", "mako", "md", "mdx", "mjs", "mk", "ml", "mli", "mm", "mod",
    "mts", "mustache", "nim", "nix", "org", "p6", "pas", "patch", "php", "pl", "plist", "pm",
    "po", "pot", "pp", "proto", "ps1", "psm1", "pug", "py", "pyi", "pyw", "pyx", "r", "rake",
    "rb", "rego", "rkt", "rs", "rst", "s", "sass", "sbt", "scala", "scm", "scss", "sh", "sln",
    "sol", "sql", "srt", "styl", "sum", "sv", "svelte", "svg", "swift", "t", "tcl", "tcss",
    "template", "tex", "tf", "tfvars", "thrift", "tmpl", "toml", "ts", "tsv", "tsx", "twig",
    "txt", "v", "vb", "vbs", "vcxproj", "vhd", "vim", "vue", "wgsl", "xaml", "xml", "xsd", "xsl",
    "yaml", "yml", "zig", "zsh",
])  # fmt: skip
"""In small letters: what a whole file's name ends in if nothing else says that it is one."""
_FORBIDDEN = pattern(r"[\x00-\x1f\x7f`\"<>|*?;,!=(){}$]|://|\.\.\.|^[-+@]| $|^ ")
_SEGMENTS = pattern(
    r"(?:^|(?<=/))(?:\([\w.~-]+\)[\w.-]*(?=/)|\+(?=(?:page|layout|server|error)[\w.@-]*\.[a-z]+$)"
    r"|@(?=[\w.-]+/))|(?<=[\w./-])\$(?=\w)"
)
"""What paths of web frameworks have and prose has not: ``(group)/``, ``+page.ts``, ``@slot/``,
``posts.$id.tsx``."""
_SUFFIX = pattern(r"[^/\\.\s]\.([A-Za-z_][\w+-]{0,15}|7z)$")
_DOTFILE = pattern(r"(?:^|[/\\])\.[A-Za-z][\w.-]*$")
_LEAD = pattern(
    r"(?:#{1,6}\s*|//\s*|[-*+]\s+|\d{1,3}[.)]\s+|>\s+|<!--\s*)?"
    r"(?:\*\*|__)?(?:(?:(?:new )?file ?(?:name|path)?|path)\s*:\s*(?:\*\*\s*)?)?",
    re.IGNORECASE,
)
_TAIL = pattern(
    r"(?:\s*\((?:new|updated|modified|changed|edited|created|new file)\))?\s*:?\s*(?:-->)?$"
)
_WRITES = pattern(
    r"\b(?:writ\w*|wrote|rewr\w*|creat\w+|add(?:ed|ing)?|new|updat\w+|modif\w+|chang\w+|"
    r"replac\w+|full|complete|entire|whole|content(?:s)?|final|revised|fixed|here is|here's)\b",
    re.IGNORECASE,
)
_SHELLS = frozenset([
    "sh", "bash", "zsh", "fish", "shell", "console", "terminal", "powershell", "ps1", "cmd",
    "bat", "batch",
])  # fmt: skip
_OUTPUT = frozenset([
    "output", "traceback", "log", "stdout", "stderr", "pycon", "shell-session",
])  # fmt: skip
_LANGUAGES = {
    "python": ("py", "pyi", "pyw"),
    "py": ("py", "pyi", "pyw"),
    "javascript": ("js", "jsx", "mjs", "cjs"),
    "js": ("js", "jsx", "mjs", "cjs"),
    "typescript": ("ts", "tsx", "mts", "cts"),
    "ts": ("ts", "tsx", "mts", "cts"),
    "json": ("json", "jsonc", "json5", "ipynb"),
    "yaml": ("yml", "yaml"),
    "toml": ("toml", "lock"),
    "html": ("html", "htm", "xhtml", "vue", "svelte"),
    "css": ("css", "scss", "sass"),
    "rust": ("rs",),
    "go": ("go",),
    "java": ("java",),
    "c": ("c", "h"),
    "cpp": ("cpp", "cc", "cxx", "hpp", "hh", "h"),
    "ruby": ("rb", "rake"),
    "sql": ("sql",),
}
"""What a sentence may name above a fence with this tag."""
_LABEL = pattern(r"(?:\*\*)?(?:(?:new )?file ?(?:name|path)?|path)\s*:", re.IGNORECASE)
_WRAPS = ("**", "__", "`", "*", '"', "'")
_TICKED = pattern(r"`([^`\s][^`]*)`|\*\*([^*`\s]+)\*\*")
_TAG = pattern(
    r"(?:^|[\s{,])(?:path|file|filename|file_path|filepath|title|name)\s*[=:]\s*"
    r"(?:\"([^\"]+)\"|'([^']+)'|([^\s}\"',]+))",
    re.IGNORECASE,
)


def is_output(tag: str) -> bool:
    """A fence with this tag quotes what a program said."""
    return tag in _OUTPUT


def no_file(_name: str) -> bool:
    """Nothing is known of the workspace."""
    return False


def is_forbidden(text: str) -> bool:
    """The text holds what no path has that a model names in prose."""
    return _FORBIDDEN.search(_SEGMENTS.sub("x", text)) is not None


def is_path(text: str) -> bool:
    """The text looks like a file's path: an extension, a well-known name, or a dotfile."""
    if not text or len(text) > NAME_LIMIT or is_forbidden(text):
        return False
    if text.lower() in _PRODUCTS:
        return False
    last = re.split(r"[/\\]", text)[-1]
    return bool(_SUFFIX.search(text) or _DOTFILE.search(text)) or last in _BARE


def is_known_path(text: str) -> bool:
    """A path that nothing else may be: a folder in it, or an extension that files have."""
    if not is_path(text):
        return False
    match = _SUFFIX.search(text)
    known = match is None or match[1].lower() in _EXTENSIONS
    return known or ("/" in text and " " not in text)


def suffix_of(path: str) -> str:
    """The extension in small letters; empty if there is none."""
    match = _SUFFIX.search(path)
    return match[1].lower() if match else ""


def name_of(line: str) -> str:
    """The name that a line consists of, decorations aside; empty if it is something else."""
    text, wrapped = _bare(line)
    return text if is_path(text) and (wrapped or not re.search(r"\s", text)) else ""


def maybe_name(line: str) -> str:
    """What a line would name if it were nothing but a name; empty if it can be none."""
    text, _ = _bare(line)
    return "" if not text or is_forbidden(text) else text


def lone_path(line: str, exists: Exists) -> str:
    """The path that a line consists of: of an existing file, or one with a folder in it.

    A line of code is looked up on no disk: it has signs that names have not, and no extension.
    """
    stripped = line.strip()
    text, _ = _bare(line)
    for name in dict.fromkeys((stripped, text)):
        if not name or len(name) > NAME_LIMIT or (is_forbidden(name) and not _SUFFIX.search(name)):
            continue
        if exists(name):
            return name
    return text if _has_folder(text) else ""


def names_in(line: str, exists: Exists) -> list[str]:
    """Paths that a sentence names in backticks or bold letters."""
    if len(line) > 4 * NAME_LIMIT:
        return []
    found = dict.fromkeys(match[1] or match[2] for match in _TICKED.finditer(line))
    return [name for name in found if is_path(name) or _has_folder(name) or exists(name)]


def is_claim(line: str) -> bool:
    """The line is one word that says a file's name, though nothing shows that it is one."""
    text = line.strip()
    bare, _ = _bare(line)
    if not bare or re.search(r"\s", bare) or is_forbidden(bare):
        return False
    return text in (bare, f"`{bare}`") or _LABEL.match(text) is not None


def name_in_tag(info: str) -> str:
    """The name in a fence's info string: ``python:a/b.py``, ``a/b.py``, ``title="a.py"``."""
    info = info.strip()
    if match := _TAG.search(info):
        name = match[1] or match[2] or match[3]
        return name if is_path(name) or "/" in name else ""
    for word in info.split():
        name = word.split(":", 1)[-1] if ":" in word and "://" not in word else word
        if is_path(name) or ("/" in name and not is_forbidden(name)):
            return name
    return ""


class Near(NamedTuple):
    """What the lines above a SEARCH/REPLACE block say of its file."""

    path: str
    """Empty if no line is surely a name."""
    others: tuple[str, ...]
    """Other candidates, best first."""
    claimed: bool
    """The line right above says a name, so no earlier block's file is meant."""


def near(lines: Iterable[str], exists: Exists) -> Near:
    """The name for a SEARCH/REPLACE block, from the lines above it, the nearest first.

    Blank lines and fences do not count; a fence's tag may name the file.
    """
    sure: list[str] = []
    other: list[str] = []
    seen = 0
    direct, claimed = True, False
    for line in lines:
        text = line.strip()
        if text.startswith(("```", "~~~")):
            sure += [name for name in [name_in_tag(text.lstrip("`~"))] if name]
            continue
        if not text:
            direct = False
            continue
        seen += 1
        if seen > NEAR:
            break
        if name := lone_path(text, exists) or name_of(text):
            sure.append(name)
        elif named := names_in(text, exists):
            (sure if len(named) == 1 and text.endswith(":") else other).extend(named)
        elif seen == 1 and (name := maybe_name(text)):
            other.append(name)
            claimed = direct and is_claim(text)
    path = sure[0] if sure else ""
    others = [name for name in dict.fromkeys(sure[1:] + other) if name != path]
    if path:  # another file is never meant instead
        last = _last(path)
        others = [name for name in others if _last(name) == last]
    return Near(path, tuple(others), claimed)


def listed(lines: Iterable[str], info: str, exists: Exists, *, strict: bool) -> str | None:
    """The name of the file that a fence holds whole; None if it is only a snippet.

    ``lines`` are those above, the nearest first. Unless ``strict`` (the model was asked for
    whole files) only what cannot well be a quotation counts: a line that is nothing but the
    name, or a sentence that ends in a colon and says that the file is written. Empty: it is no
    snippet (it follows no sentence), and no file is named.
    """
    tag = (info.strip().split() or [""])[0].lower().lstrip("{.").rstrip("}")
    sure = is_path if strict else is_known_path
    name = name_in_tag(info)
    if name and (sure(name) or exists(name)):
        return name
    seen, direct, snippet = 0, True, tag in _SHELLS or tag in _OUTPUT or not strict
    for line in lines:
        text = line.strip()
        if not text or text.startswith(("```", "~~~")):
            if text and not strict:
                break
            direct = direct and bool(text)
            continue
        seen += 1
        if seen > (NEAR if strict else 1):
            break
        lone = lone_path(text, exists) if direct or strict else ""
        lone = lone if strict or exists(lone) else ""  # prose says and/or, too
        found = lone or name_of(text)
        named = [] if found else names_in(text, exists)
        if len(named) == 1 and (strict or (text.endswith(":") and _WRITES.search(text))):
            found = named[0]
        folder = strict and _has_folder(found)
        if found and (found == lone or sure(found) or folder or exists(found)):
            return found if _fits(tag, found, alone=not named) else None
        snippet = snippet or not (direct and is_claim(text))
    return None if snippet else ""


def _fits(tag: str, path: str, *, alone: bool) -> bool:
    """A fence with this tag may hold this file."""
    suffix = suffix_of(path)
    if tag in _SHELLS:
        return suffix in ("sh", "bash", "zsh", "fish", "ps1", "bat", "cmd", "") and alone
    if tag in ("diff", "patch", "udiff"):
        return suffix in ("diff", "patch")
    if tag in _OUTPUT:
        return False
    return alone or tag not in _LANGUAGES or suffix in _LANGUAGES[tag]


def _has_folder(text: str) -> bool:
    """The text is one word with a folder before its last part, as no prose has it."""
    if "/" not in text.strip("/") or text.endswith("/") or re.search(r"\s", text):
        return False
    return len(text) <= NAME_LIMIT and not is_forbidden(text)


def _last(path: str) -> str:
    return re.split(r"[/\\]", path)[-1]


def _bare(line: str) -> tuple[str, bool]:
    """A line without its decorations, and whether it was set off by them."""
    text = line.strip()
    if not text or len(text) > NAME_LIMIT:
        return "", False
    text = text.replace("\\_", "_")
    wrapped = False
    match = _LEAD.match(text)
    if match and not _DOTFILE.match(text):
        bold = match[0].endswith(("**", "__")) and ":" not in match[0]
        text = text[match.end() - 2 * bold :]
        if ":" in match[0]:
            text = text.rstrip("* ")
    text = _TAIL.sub("", text)
    for wrap in (*_WRAPS, *_WRAPS):
        if len(text) > 2 * len(wrap) and text.startswith(wrap) and text.endswith(wrap):
            text, wrapped = _TAIL.sub("", text[len(wrap) : -len(wrap)].strip()), True
    return text, wrapped
