"""The workflow files of scripts/ci as lists of blocks of shell: what the check looks at and what the case runs."""

import dataclasses

import yaml

GITLAB_KEYS = {"stages", "workflow", "variables", "include", "default", "image"}


class Loader(yaml.SafeLoader):
    """YAML 1.2's booleans: `on` is a key of GitHub's, not True."""


Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in rules if tag != "tag:yaml.org,2002:bool" or first in "tTfF"]
    for first, rules in yaml.SafeLoader.yaml_implicit_resolvers.items()}


@dataclasses.dataclass
class Block:
    """Shell that one step runs."""
    job: str
    step: str
    text: str
    env: dict  # as written, with GitHub's expressions
    always: bool = False  # also after a step that failed


def load(path):
    return yaml.load(path.read_text(), Loader)


def is_github(document):
    return "jobs" in document


def gitlab_jobs(document):
    """{name: job}, each with what it extends merged in; hidden ones (.name) are left out."""
    def whole(job):
        base = whole(document[job["extends"]]) if "extends" in job else {}
        return {**base, **job}
    return {name: whole(job) for name, job in document.items() if name not in GITLAB_KEYS and not name.startswith(".")}


def blocks(document):
    found = []
    if is_github(document):
        for name, job in document["jobs"].items():
            for number, step in enumerate(job["steps"]):
                if "run" in step:
                    env = {**document.get("env", {}), **job.get("env", {}), **step.get("env", {})}
                    found.append(Block(name, step.get("name", f"step {number + 1}"), step["run"], env,
                                       "!cancelled()" in str(step.get("if", ""))))
    else:
        for name, job in gitlab_jobs(document).items():
            text = "\n".join(job["script"])
            found.append(Block(name, "script", text, {**document.get("variables", {}), **job.get("variables", {})}))
    return found
