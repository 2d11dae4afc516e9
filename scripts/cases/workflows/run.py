"""Runs the steps of one job of a workflow file of scripts/ci as its CI would, in the current folder.

usage: run.py FILE JOB [--skip STEP]…

GitHub's expressions have the values of an imaginary pull request; another expression is an error. A step that fails ends
the job, but for those that run in any case. Prints how each step ended; the exit code is the first one that is not 0."""

import argparse
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "scripts" / "checks"))
import workflows  # noqa: E402

VALUES = {
    "github.base_ref": "main",
    "github.base_ref || github.event.repository.default_branch": "main",
    "github.event.pull_request.number": "7",
    "github.token": "secret",
    "vars.KTUNE_BASELINE": "",
}


def value_of(text):
    return re.sub(r"\$\{\{ *(.*?) *\}\}", lambda match: VALUES[match.group(1)], str(text))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("file")
    parser.add_argument("job")
    parser.add_argument("--skip", action="append", default=[])
    arguments = parser.parse_args()
    document = workflows.load(ROOT / "scripts" / "ci" / arguments.file)
    blocks = [block for block in workflows.blocks(document) if block.job == arguments.job]
    if not blocks:
        sys.exit(f"{arguments.file} has no job {arguments.job}")
    given = {"GITHUB_REPOSITORY": "someone/kernels", "GITHUB_STEP_SUMMARY": "summary.md"}
    code = 0
    for block in blocks:
        if block.step in arguments.skip or (code != 0 and not block.always):
            continue
        # What the case's own environment says goes before the file's: it names the device.
        env = {**{key: value_of(text) for key, text in block.env.items()}, **given, **os.environ}
        done = subprocess.run(["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", block.text], env=env,
                              stderr=subprocess.PIPE, text=True)
        print(f"{block.step}: exit code {done.returncode}", flush=True)
        sys.stderr.write(done.stderr)
        code = code or done.returncode
    sys.exit(code)


main()
