"""aider's own parsers and replacers over JSON lines; runs in its environment.

Its package is imported without what its chat needs: only the edit formats' modules run.
"""

import importlib.machinery
import json
import sys
import types
from pathlib import Path
from unittest.mock import MagicMock


class Stand:
    """Imports anything that is not installed as an empty thing."""

    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "aider" and name not in ("aider.coders.base_coder", "aider.utils"):
            return None
        return importlib.machinery.ModuleSpec(name, self)

    def create_module(self, spec):
        module = MagicMock(name=spec.name)
        module.__path__, module.__spec__ = [], spec
        if spec.name == "aider.coders.base_coder":
            module.Coder = type("Coder", (), {})
        return module

    def exec_module(self, module):
        pass


def load():
    import aider

    coders = types.ModuleType("aider.coders")
    coders.__path__ = [str(Path(aider.__file__).parent / "coders")]
    sys.modules["aider.coders"] = coders
    sys.meta_path.insert(0, Base())
    sys.meta_path.append(Stand())


class Base(Stand):
    """The base class pulls in the whole chat."""

    def find_spec(self, name, path=None, target=None):
        if name in ("aider.coders.base_coder", "aider.utils"):
            return importlib.machinery.ModuleSpec(name, self)
        return None


def block(said):
    from aider.coders import editblock_coder as coder

    text = said["before"]
    for path, old, new in coder.find_original_update_blocks(said["patch"], valid_fnames=["f.py"]):
        text = coder.replace_most_similar_chunk(text, old, new) if path else None
        if text is None:
            return None
    return text


def udiff(said):
    from aider.coders import udiff_coder as coder

    text = said["before"]
    for _, hunk in coder.find_diffs(said["patch"]):
        text = coder.do_replace("f.py", text, hunk)
        if not text:
            return None
    return text


def whole(said):
    from aider.coders import wholefile_coder as coder

    made = coder.WholeFileCoder.__new__(coder.WholeFileCoder)
    made.fence = ("```", "```")
    made.io = MagicMock()
    made.abs_root_path = lambda path: path
    made.io.read_text = lambda path: said["before"]
    made.get_inchat_relative_files = lambda: ["f.py"]
    made.get_multi_response_content_in_progress = lambda *a, **k: said["patch"]
    made.get_multi_response_content = made.get_multi_response_content_in_progress
    made.partial_response_content = said["patch"]
    for edit in made.get_edits():
        if edit[0] == "f.py":
            return "".join(edit[2]) if not isinstance(edit[2], str) else edit[2]
    return None


def main(way):
    load()
    play = {"block": block, "udiff": udiff, "whole": whole}[way]
    for line in sys.stdin:
        try:
            after = play(json.loads(line))
        except Exception as error:  # whatever it raises, it did not apply the edit
            print(type(error).__name__, error, file=sys.stderr)
            after = None
        print(json.dumps(after), flush=True)


main(sys.argv[1])
