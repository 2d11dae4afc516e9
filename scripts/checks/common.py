"""What the checks share: the files of the tree, and how offences are reported.

A check takes the tree to look at as its only argument (this checkout by default), prints one line an offence as
path:line: what is wrong, and exits with 1 if there is any.
"""

import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shlex
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
CPP = (".h", ".cpp")
DEF = (".def",)  # rows of a table
KERNELS = (".cu", ".cuh")
BUILD = os.environ.get("KTUNE_BUILD", "build")  # the build folder whose compile commands count


def tree():
    paths = [word for word in sys.argv[1:] if not word.startswith("--")]
    return pathlib.Path(paths[0]).resolve() if paths else ROOT


def files(root, folders, endings=None):
    """The files below the folders whose name ends so, in order."""
    found = []
    for folder in folders:
        for path in sorted((root / folder).rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts and (endings is None or path.suffix in endings):
                found.append(path)
    return found


def lines(path):
    return path.read_text(errors="replace").splitlines()


NOT_CODE = re.compile(r'R"([^(\s]*)\(.*?\)\1"|//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"'
                      r"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'", re.S)


def code(path):
    """The text without comments and literals (each is replaced by its line breaks), but with what #include names."""

    def blank(match):
        text = match.group(0)
        start = path_text.rfind("\n", 0, match.start()) + 1
        if text.startswith('"') and re.match(r"\s*#\s*include\s*$", path_text[start:match.start()]):
            return text
        return " " + "\n" * text.count("\n")

    path_text = path.read_text(errors="replace")
    return NOT_CODE.sub(blank, path_text)


def finish(root, offences, looked_at, what):
    """Prints the offences, each (path, line, message), and ends the check. Looking at nothing is an offence too."""
    for path, number, message in offences:
        where = path.relative_to(root) if isinstance(path, pathlib.Path) and path.is_relative_to(root) else path
        print(f"{where}:{number}: {message}")
    if not looked_at:
        print(f"no {what} below {root}: nothing was checked")
    else:
        print(f"{looked_at} {what}, {len(offences)} offences")
    sys.exit(1 if offences or not looked_at else 0)


def compile_flags(root):
    """{source file: its flags without compiler, input and output} from the compilation database of the build."""
    database = root / BUILD / "compile_commands.json"
    if not database.exists():
        sys.exit(f"no {database}: configure first (scripts/quickstart --build-only)")
    flags = {}
    for entry in json.loads(database.read_text()):
        words = shlex.split(entry["command"])
        kept, skip = [], False
        while words and not words[0].startswith("-"):
            words.pop(0)
        for word in words:
            if skip:
                skip = False
            elif word in ("-o", "-MF", "-MT", "-MQ"):
                skip = True
            elif word not in ("-c", "-MD", "-MMD", entry["file"]):
                kept.append(word)
        flags[pathlib.Path(entry["file"])] = kept
    return flags


def fingerprint(root, path, seen=None):
    """Hash of a source and of every file of the project that it includes."""
    seen = {} if seen is None else seen
    if path in seen:
        return ""
    seen[path] = path.read_bytes()
    for name in re.findall(rb'^\s*#\s*include\s*"([^"]+)"', seen[path], re.M):
        for base in (root / "src", path.parent):
            target = (base / name.decode()).resolve()
            if target.is_file():
                fingerprint(root, target, seen)
                break
    digest = hashlib.sha256()
    for name in sorted(seen):
        digest.update(seen[name] + b"\0")
    return digest.hexdigest()


def cached(root, name, keys, work):
    """Runs work(item) for each (item, key) whose key has not passed before, side by side; yields (item, complaint)."""
    jobs = int(os.environ.get("KTUNE_JOBS") or os.cpu_count())
    passed = root / BUILD / "checks" / name
    passed.mkdir(parents=True, exist_ok=True)
    todo = [(item, key) for item, key in keys if not (passed / key).exists()]
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for (item, key), complaint in zip(todo, pool.map(work, [item for item, _ in todo])):
            if not complaint:
                (passed / key).touch()
            yield item, complaint
