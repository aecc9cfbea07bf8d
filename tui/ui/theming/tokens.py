"""Which colour and which face of ``[syntax]`` a Pygments token type has."""

from __future__ import annotations

TOKENS: dict[str, str] = {
    "Comment": "comment",
    "Comment.Preproc": "decorator",
    "Keyword": "keyword",
    "Keyword.Constant": "constant",
    "Keyword.Type": "type",
    "Name": "variable",
    "Name.Function": "function",
    "Name.Class": "type",
    "Name.Exception": "type",
    "Name.Namespace": "variable",
    "Name.Builtin": "builtin",
    "Name.Builtin.Pseudo": "constant",
    "Name.Decorator": "decorator",
    "Name.Constant": "constant",
    "Name.Attribute": "attribute",
    "Name.Tag": "tag",
    "Name.Entity": "escape",
    "Literal": "string",
    "Literal.Number": "number",
    "Literal.String": "string",
    "Literal.String.Doc": "comment",
    "Literal.String.Escape": "escape",
    "Literal.String.Interpol": "escape",
    "Literal.String.Regex": "escape",
    "Operator": "operator",
    "Operator.Word": "keyword",
    "Punctuation": "punctuation",
    "Generic.Heading": "heading",
    "Generic.Subheading": "heading",
    "Generic.Inserted": "inserted",
    "Generic.Deleted": "deleted",
    "Generic.Error": "error",
    "Generic.Traceback": "error",
    "Generic.Prompt": "comment",
    "Error": "error",
}
"""Pygments token names -> ``[syntax]`` names; what is not here has its parent's."""

FACES: dict[str, str] = {
    "Comment": "italic",
    "Generic.Emph": "italic",
    "Generic.EmphStrong": "bold italic",
    "Generic.Heading": "bold",
    "Generic.Strong": "bold",
    "Generic.Subheading": "bold",
}
"""Pygments token names -> Rich attributes; what is not here has its parent's."""


def nearest(name: str, table: dict[str, str]) -> str:
    """What a table has for a token type or its nearest parent; else nothing."""
    while name and name not in table:
        name = name.rpartition(".")[0]
    return table.get(name, "")
