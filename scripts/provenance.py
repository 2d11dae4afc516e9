"""Where a figure is from: what the scripts that make results/ write into each file of theirs."""

import datetime
import json
import os
import pathlib
import subprocess
import sys


def call():
    """This call of this script. Where things were is that machine's own affair: of a path its last name is said."""
    words = [pathlib.Path(word).name if os.sep in word else word for word in sys.argv]
    return " ".join(["scripts/" + words[0], *words[1:]])


def provenance(ktune):
    """{"device", "driver", "toolkit", "commit", "date", "command"} of ktune's default device and of this call.

    ktune itself says so, in the context of a benchmark's JSON. Raises RuntimeError with its own words where it cannot.
    """
    done = subprocess.run([ktune, "bench", "--op", "copy", "--shape", "4096", "--dtype", "f32", "--variant", "default",
                           "--benchmark_format=json"], capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError((done.stderr or done.stdout).strip()[-400:])
    context = json.loads(done.stdout)["context"]
    return {"device": context["device"], "driver": context["driver"], "toolkit": context["toolkit"],
            "commit": context["ktune_commit"], "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d"),
            "command": call()}


def of_gate(result):
    """The same from the JSON of a gate."""
    device = result["device"]
    return {"device": device["name"], "driver": device["driver"], "toolkit": device["toolkit"], "commit": result["commit"],
            "date": result["date"][:10], "command": call()}


def line(source):
    """The same in a line, for the head of a table."""
    return (f"{source['device']}, driver {source['driver']}, {source['toolkit']}, ktune {source['commit']}, "
            f"{source['date']}: {source['command']}")
