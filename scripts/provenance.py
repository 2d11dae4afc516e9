"""Where a figure is from, which the scripts that make results/ write into each file of theirs; and how they refuse."""

import datetime
import json
import os
import pathlib
import shutil
import subprocess
import sys


class Stop(Exception):
    """A script cannot go on: what it says in a line, and its exit code."""

    def __init__(self, text, code=2):
        super().__init__(text)
        self.code = code


def guarded(main):
    """Runs a script's main. What its caller can put right ends in one line: a traceback says nothing to them, and exits with 1."""
    try:
        main()
    except (Stop, OSError) as error:
        print(f"{pathlib.Path(sys.argv[0]).name}: {' '.join(str(error).split())}", file=sys.stderr)
        sys.exit(getattr(error, "code", 2))


def program(name):
    """The path of KTUNE, which is a path or a name on the PATH."""
    path = os.path.realpath(shutil.which(name) or name)
    if not os.path.isfile(path) or not os.access(path, os.X_OK):
        raise Stop(f"{name!r} is no program: name a built or installed ktune")
    return path


def folder(name):
    """The path of OUT, made where it is not there."""
    path = pathlib.Path(os.path.abspath(name))
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Stop(f"{name!r} cannot be a folder for the results ({error.strerror}): name another one") from error
    return path


def run(ktune, *arguments):
    """What became of a call of ktune, with the text it printed."""
    try:
        return subprocess.run([ktune, *arguments], capture_output=True, text=True, errors="replace")
    except OSError as error:
        raise Stop(f"{ktune} cannot be run ({error.strerror}): name a built or installed ktune") from error


def said(done):
    """The end of what a call said of itself."""
    return (done.stderr or done.stdout).strip()[-400:] or "it printed nothing"


def call():
    """This call of this script. Where things were is that machine's own affair: of a path its last name is said."""
    words = [pathlib.Path(word).name if os.sep in word else word for word in sys.argv]
    return " ".join(["scripts/" + words[0], *words[1:]])


def provenance(ktune):
    """{"device", "driver", "toolkit", "commit", "date", "command"} of ktune's default device and of this call.

    ktune itself says so, in the context of a benchmark's JSON. Raises Stop with its own words where it does not.
    """
    done = run(ktune, "bench", "--op", "copy", "--shape", "4096", "--dtype", "f32", "--variant", "default",
               "--benchmark_format=json")
    if done.returncode != 0:
        raise Stop(f"`{ktune} bench` ended with exit code {done.returncode}: {said(done)}")
    try:
        context = json.loads(done.stdout)["context"]
        return {"device": context["device"], "driver": context["driver"], "toolkit": context["toolkit"],
                "commit": context["ktune_commit"], "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d"),
                "command": call()}
    except (ValueError, KeyError, TypeError) as error:
        raise Stop(f"{ktune} is no ktune that says where it runs ({said(done)}): name a built or installed one") from error


def of_gate(result):
    """The same from the JSON of a gate."""
    device = result["device"]
    return {"device": device["name"], "driver": device["driver"], "toolkit": device["toolkit"], "commit": result["commit"],
            "date": result["date"][:10], "command": call()}


def line(source):
    """The same in a line, for the head of a table."""
    return (f"{source['device']}, driver {source['driver']}, {source['toolkit']}, ktune {source['commit']}, "
            f"{source['date']}: {source['command']}")
