"""Says which of some files cannot be read: Python, JSON, TOML. Imports nothing of ours.

It is run by the project's own Python, which may be an older one; nothing of the files is run.
With ``--kept`` it stays: each line of its input is texts by their paths (null: as on the disk), and
is answered with a line.
"""

import json
import os
import sys
import warnings

_LENIENT = ("tsconfig", "jsconfig", ".vscode/", ".devcontainer", ".eslintrc", "composer", "deno")
"""Parts of the names of JSON files that may have comments."""
_MEMORY = 2 << 30


def fault(path: str, data: bytes) -> tuple[int, str] | None:
    """Line and words of what is wrong in a file; None: nothing is."""
    try:
        if path.endswith((".py", ".pyi")):
            compile(data, path, "exec", dont_inherit=True)
        elif path.endswith(".json"):
            if not any(part in path for part in _LENIENT):
                json.loads(data.decode("utf-8-sig"))
        elif path.endswith(".toml"):
            import tomllib

            tomllib.loads(data.decode("utf-8"))
    except SyntaxError as error:
        return error.lineno or 1, error.msg
    except json.JSONDecodeError as error:
        return error.lineno, error.msg
    except (ImportError, RecursionError, MemoryError):
        return None
    except ValueError as error:
        words = str(error)
        line = words.partition("at line ")[2].partition(",")[0]
        return int(line) if line.isdigit() else 1, words
    return None


def told(path: str, name: str, text: "str | None") -> str:
    """A line for a file that is broken, else nothing; the text is one character a byte."""
    try:
        if text is None:
            with open(name, "rb") as opened:
                data = opened.read()
        else:
            data = text.encode("latin-1")
        found = fault(path, data)
    except OSError:
        return ""
    return "" if found is None else "{}:{}: {}".format(path, found[0], " ".join(found[1].split()))


def keep() -> None:
    """Answer until there is no more input."""
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
        os.nice(5)
    except (ImportError, OSError, ValueError):
        pass
    for line in sys.stdin:
        asked = json.loads(line)
        root, files = asked["root"], asked["files"].items()
        lines = [told(path, os.path.join(root, path), text) for path, text in files]
        print(json.dumps([one for one in lines if one]), flush=True)


def main(paths: "list[str]") -> int:
    """Print a line for each file that is broken."""
    warnings.simplefilter("ignore")
    if paths == ["--kept"]:
        keep()
        return 0
    broken = 0
    for path in paths:
        line = told(path, path, None)
        if line:
            broken = 1
            print(line)
    return broken


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
