"""Texts in many languages, and what Pygments itself makes of them."""

from __future__ import annotations

import random

import pytest
from pygments.lexer import Lexer
from pygments.lexers import find_lexer_class_for_filename

from tui.core.text.buffer import Buffer
from tui.ui.highlight import incremental
from tui.ui.highlight import incremental as whole_lines
from tui.ui.highlight.colours import BufferColours
from tui.ui.highlight.lines import Spans, SpanWriter

SAMPLES = {
    "a.py": (
        'import os\n\n\ndef f(a):\n    """Doc\n    more.\n\n    x\n    y\n    z\n'
        '    zz\n    a\n    b\n    c\n    """\n    return f"{a!r}" + \'x\'  # note\n\n'
        'class A:\n    x = r"""a\n    b"""\n\n'
    ),
    "a.c": (
        '/* a\n b */\n#include <x.h>\nint main(void) {\n  char *s = "x\\\n y";\n'
        "  /* 1\n * 2\n * 3\n * 4\n * 5\n * 6\n * 7\n * 8\n * 9\n */\n#if 0\n no\n"
        "#endif\n  return 0;\n}\n"
    ),
    "a.cpp": (
        'template <class T>\nclass A : B {\n  // c\n  R"(raw\n x)";\n'
        "  int f() const { return 1; }\n};\n"
    ),
    "a.rs": (
        'fn main() {\n    // note\n    let s = "a\n b";\n    println!("{}", s);\n'
        " /* a /* b */\n c */ }\n#[derive(X)]\nstruct A<'a> { b: &'a str }\n"
    ),
    "a.js": (
        "// x\nfunction f(a, b) {\n  const t = `a ${b +\n c} d`;\n"
        "  return /re/g.test(a) / 2;\n}\n/* a\n b */\n\n\nclass A extends B {}\n"
    ),
    "a.ts": (
        "interface A { b: string }\nexport const f = (a: number): void => {\n"
        "  let t = `x ${a}\n y`;\n};\n// c\n"
    ),
    "a.md": (
        "# Title\n\nSome *text* and **bo\nld** [a](b)\n\n```python\nx = 1\ndef f():\n"
        '    """a\n    b"""\n```\n\n- item\n- [x] task\n\n```\nplain\n```\n\n```yaml\n'
        'a: 1\nb:\n  - c\n```\n\n```json\n{"a": 1}\n```\n\n> q\n\n```html\n<script>\n'
        "let a = 1;\n</script>\n```\n\nTi\n==\n"
    ),
    "a.html": (
        "<!DOCTYPE html>\n<p class='a'>hi <b>you</b></p>\n<!-- a\n b -->\n<script>\n"
        "let x = 1;\nfunction f() {\n return `a\n b`;\n}\n</script><style>\n"
        "a { color: red;\n}\n</style>\n<p>a &amp; b\n"
    ),
    "a.toml": '[a]\nb = "c"\nd = [1,\n 2]\ne = """a\nb"""\n',
    "a.sh": (
        '#!/bin/sh\nfor x in a b; do\n  echo "$x\n y"\ndone\ncat <<EOF\na $b\nEOF\n'
        "f() { a=$((1+2)); }\n"
    ),
    "a.yaml": (
        '# c\na: 1\nb:\n  - c: d\n    e: |\n      text\n      more\n  - "x\n    y"\n'
        "f: {a: b,\n c: d}\n---\n"
    ),
    "a.json": '{"a": 1,\n "b": [true, null,\n  "x\\u1234"], "c": {"d": 1.5}}\n',
    "a.rb": (
        "class A < B\n  def f(x)\n    y = <<~EOS\n      a #{x}\n    EOS\n"
        '    "a#{b}c" =~ /x/\n  end\nend\n=begin\ndoc\n=end\n%w(a b\n c)\n'
    ),
    "a.php": (
        "<html>\n<?php\n/** doc\n * @x\n */\nfunction f($a) {\n  $b = <<<EOT\n a $a\n"
        'EOT;\n  return "x$a";\n}\n?>\n<b>hi</b>\n'
    ),
    "a.go": (
        'package main\n\nimport "fmt"\n\nfunc f(a int) string {\n\t// c\n\treturn `raw\n x`\n}\n'
    ),
    "a.java": (
        "package a;\n/** doc\n * x */\npublic class A {\n  @Override\n"
        '  public int f() { return "s".length(); }\n}\n'
    ),
    "a.css": "a, b:hover { color: red; /* c\n d */ }\n@media x { p { margin: 0 } }\n",
    "a.scss": "$a: 1px;\na { &:hover { b: $a; } // c\n @include x; }\n",
    "a.sql": "SELECT a, \"b\" FROM t -- c\nWHERE x = 'a\n b';\n/* a\n b */\n",
    "a.xml": '<?xml version="1.0"?>\n<a b="c\n d"><!-- x\n y --><![CDATA[ z\n ]]></a>\n',
    "a.lua": "--[[ a\n b ]]\nlocal s = [==[ x\n y ]==]\nfunction f() return 1 end -- c\n",
    "a.pl": (
        'use strict;\nmy $x = <<EOT;\n a $x\nEOT\n=pod\n\ndoc\n\n=cut\nprint "a" if $x =~ m/a/;\n'
    ),
    "a.ex": 'defmodule A do\n  @doc """\n  x\n  """\n  def f(x), do: "#{x}"\nend\n',
    "a.hs": "module A where\n{- a\n {- b -}\n -}\nf :: Int -> Int\nf x = x + 1 -- c\n",
    "a.kt": 'fun f(a: Int): String {\n  val s = """a\n  $b"""\n  return "x${a}"\n}\n',
    "a.swift": 'func f() -> Int {\n /* a /* b */\n c */\n let s = "a\\(b)"\n}\n',
    "a.cs": 'namespace A {\n  class B { string s = @"a\n b"; }\n}\n',
    "a.html.j2": (
        "{% for x in y %}\n<p>{{ x }}</p>\n{# a\n b #}\n{% endfor %}\n<script>\n"
        "let a = {{ b }};\n</script>\n"
    ),
    "a.rhtml": "<p><%= x %></p>\n<% if a\n b %>\n<b>x</b>\n<% end %>\n",
    "Makefile": "A = b\nall: x y\n\techo $(A) \\\n\t  b\n# c\nifdef X\nendif\n",
    "a.rst": (
        "Title\n=====\n\ntext *a* ``b``\n\n.. code-block:: python\n\n   def f():\n"
        "       pass\n\n:a: b\n"
    ),
    "a.tf": 'resource "a" "b" {\n  c = <<EOF\n d ${e}\nEOF\n  /* x\n y */\n}\n',
    "a.diff": "--- a\n+++ b\n@@ -1 +1 @@\n-x\n+y\n",
    "Dockerfile": 'FROM a\nRUN b \\\n  && c\n# d\nCMD ["x"]\n',
}
"""By file name; each is a whole number of lines."""

PIECES = (
    "x",
    "\n",
    "",
    "/*",
    "*/",
    "(",
    "\n\nfoo\n",
    '"""',
    "'",
    '"',
    "```\n",
    "```python\n",
    "<script>\n",
    "</script>\n",
    "#",
    "{%",
    "%}",
    "}",
    "{",
    "    ",
    "`",
    "<!--",
    "-->",
    "\\",
    "<<EOF\n",
    "EOF\n",
    "def f():\n    pass\n",
    "$",
    "=begin\n",
    "=end\n",
    "a: |\n",
    "  - b\n",
    "日本",
    "\t",
    "---\n",
    "\x0c",
    "\u2028",
    "\ud800",
)
"""What opens and closes things."""


def whole(buffer: Buffer, sample: str | None = None) -> list[Spans]:
    """The spans by the stock lexer over the whole text."""
    found_class = find_lexer_class_for_filename(buffer.path, sample or SAMPLES[buffer.path])
    assert found_class is not None
    return stock_spans(found_class(), "\n".join(buffer.lines) + "\n")[: buffer.line_count]


def stock_spans(lexer: Lexer, text: str) -> list[Spans]:
    """The spans of each line of a text by a lexer as Pygments runs it."""
    writer = SpanWriter(0, 0, text)
    found: list[Spans] = []
    for token in lexer.get_tokens_unprocessed(text):
        found += [spans for _, spans in writer.write(*token)]
    return [*found, *(spans for _, spans in writer.skip(len(text))), writer.rest()[1]]


def spans_of(colours: BufferColours, buffer: Buffer) -> list[Spans]:
    """The spans of all lines."""
    return [colours.spans(line) for line in range(buffer.line_count)]


def settle(colours: BufferColours, buffer: Buffer) -> None:
    """Let idle moments come until nothing is left to do."""
    while colours.pending:
        colours.advance(buffer.line_count, 1.0)


def without_pauses(patch: pytest.MonkeyPatch) -> None:
    """Idle work is due at once, not after the user paused."""
    for name in ("_REPAIR_S", "_QUIET_S"):
        patch.setattr(incremental, name, 0.0)
    for name in ("_RESTART_S", "_SHARE"):
        patch.setattr(whole_lines, name, 0.0)


def mangle(buffer: Buffer, chance: random.Random) -> None:
    """A few random edits at random places."""
    lines = SAMPLES[buffer.path].split("\n")
    for _ in range(chance.choice([1, 1, 1, 2, 5])):
        start = buffer.clamp((chance.randrange(buffer.line_count), chance.randrange(30)))
        height = chance.choice([0, 0, 0, 0, 1, 2, 6])
        end = max(start, buffer.clamp((start[0] + height, chance.randrange(30))))
        line = chance.choice(lines)
        buffer.replace(start, end, chance.choice([*PIECES, line, line + "\n"]))


def look_on(colours: BufferColours, buffer: Buffer, chance: random.Random) -> None:
    """What a screen does now and then: paint some lines, or use an idle moment."""
    first = chance.randrange(buffer.line_count)
    kind = chance.random()
    if kind < 0.5:
        colours.advance(first + 20, chance.choice([0.0, 0.0005, 0.005]), first)
    elif kind < 0.8:
        colours.idle(chance.choice([0.0, 0.0005, 0.005, 1.0]))
