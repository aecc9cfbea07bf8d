"""Writes what a GBNF grammar allows, as chance wants it: of GBNF what ours are written in."""

from __future__ import annotations

import json
import re
from random import Random

_TOKEN = re.compile(r'\s*("(?:[^"\\]|\\.)*"|\[(?:[^\]\\]|\\.)*\]|\{\d+,\d+\}|[\w-]+|[()|])')
_LETTERS = "ab xyz(){}:=<>#\t\"'\\0"


class Gbnf:
    """A grammar of which texts are drawn."""

    def __init__(self, text: str, random: Random) -> None:
        self._rules = dict(line.split(" ::= ", 1) for line in text.split("\n") if line)
        self._random = random

    def drawn(self, rule: str = "root") -> str:
        """One text of a rule."""
        tokens = _TOKEN.findall(self._rules[rule])
        return self._one(self._alternatives(tokens))

    def _one(self, alternatives: list[list[str]]) -> str:
        chosen, said, at = self._random.choice(alternatives), [], 0
        while at < len(chosen):
            token, end = chosen[at], at + 1
            if token == "(":
                end = _closing(chosen, at) + 1
            count, low = chosen[end] if end < len(chosen) else "", 1
            if count.startswith("{"):
                least, most = map(int, count[1:-1].split(","))
                low = self._random.randint(least, most)
            said += [self._part(chosen[at:end]) for _ in range(low)]
            at = end + count.startswith("{")
        return "".join(said)

    def _part(self, tokens: list[str]) -> str:
        token = tokens[0]
        if token == "(":
            return self._one(self._alternatives(tokens[1:-1]))
        if token.startswith('"'):
            return str(json.loads(token))
        if token.startswith("["):
            none = json.loads(f'"{token[2:-1]}"')
            return self._random.choice([letter for letter in _LETTERS if letter not in none])
        return self.drawn(token)

    @staticmethod
    def _alternatives(tokens: list[str]) -> list[list[str]]:
        found: list[list[str]] = [[]]
        depth = 0
        for token in tokens:
            depth += (token == "(") - (token == ")")
            if token == "|" and not depth:
                found.append([])
            else:
                found[-1].append(token)
        return found


def _closing(tokens: list[str], at: int) -> int:
    depth = 0
    for index in range(at, len(tokens)):
        depth += (tokens[index] == "(") - (tokens[index] == ")")
        if not depth:
            return index
    raise AssertionError(tokens)
