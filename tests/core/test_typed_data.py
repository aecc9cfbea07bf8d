"""One place learns types: two threads that are the first to read one end the process."""

from __future__ import annotations

import ast
import subprocess
import sys

from tests.support.sources import ROOT, package, reads_all

AT_ONCE = """
import sys, threading
sys.setswitchinterval(1e-6)
import msgspec
from tui.core.typed_data import from_json, from_msgpack, json_decoder, typed

for _ in range(60):
    inner = msgspec.defstruct("Inner", [(f"a{n}", "int | None", None) for n in range(30)])
    names = {"Inner": inner}
    fields = [(f"b{n}", "list[Inner] | None", None) for n in range(30)]
    kind = msgspec.defstruct("Outer", fields, module=__name__)
    globals()["Inner"] = inner
    start = threading.Barrier(4)

    def reads(read):
        start.wait()
        read()

    plain, packed = b'{"b1": [{"a1": 1}]}', msgspec.msgpack.encode({"b1": [{"a1": 1}]})
    reading = (
        lambda: from_json(plain, kind),
        lambda: from_msgpack(packed, kind),
        lambda: json_decoder(kind).decode(plain),
        lambda: typed({"b1": [{"a1": 1}]}, kind),
    )
    threads = [threading.Thread(target=reads, args=(read,)) for read in reading]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
"""


def test_four_threads_are_the_first_to_read_a_type() -> None:
    argv = [sys.executable, "-c", AT_ONCE]
    done = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@reads_all
def test_types_are_learnt_in_one_place() -> None:
    found = [
        f"{source.path}:{node.lineno}"
        for source in package()
        if source.path != "tui/core/typed_data.py"
        for node in source.nodes
        if isinstance(node, ast.Call) and _learns(node)
    ]
    assert not found, "use tui.core.typed_data"


def _learns(call: ast.Call) -> bool:
    """It reads something as a type by msgspec itself."""
    named = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    typed = len(call.args) > 1 or any(one.arg == "type" for one in call.keywords)
    if not (named in ("convert", "Decoder") or (named == "decode" and typed)):
        return False
    return ast.unparse(call.func).partition(".")[0] in ("msgspec", "json", "msgpack", "toml")
