"""Makes the payloads and the vendor table of this directory from two pinned npm packages, reduced to what detection reads.

    npm install --prefix DIR ci-info@4.5.0 @octokit/webhooks-examples@7.6.1
    python3 tests/data/ci/extract.py DIR/node_modules

The payloads are GitHub's own examples (MIT); the variants of forks are edited from them here. `ci-info` is MIT as well.
"""
import copy
import json
import pathlib
import sys

MODULES, HERE = pathlib.Path(sys.argv[1]), pathlib.Path(__file__).parent
REPOSITORY = {"id": 1, "full_name": 1, "default_branch": 1, "fork": 1, "owner": {"login": 1}}
END = {"ref": 1, "sha": 1, "user": {"login": 1}, "repo": REPOSITORY}
SHORT = {"id": 1, "url": 1, "name": 1}
KEPT = {
    "action": 1, "ref": 1, "before": 1, "after": 1, "deleted": 1, "number": 1, "repository": REPOSITORY, "inputs": 1,
    "sender": {"login": 1}, "release": {"tag_name": 1}, "merge_group": {"head_sha": 1, "head_ref": 1, "base_sha": 1, "base_ref": 1},
    "issue": {"number": 1, "pull_request": {"url": 1}},
    "pull_request": {"number": 1, "user": {"login": 1}, "head": END, "base": END, "merged": 1},
    "workflow_run": {
        "id": 1, "event": 1, "head_branch": 1, "head_sha": 1, "head_repository": REPOSITORY, "repository": REPOSITORY,
        "pull_requests": [{"number": 1, "head": {"ref": 1, "sha": 1, "repo": SHORT}, "base": {"ref": 1, "sha": 1, "repo": SHORT}}],
    },
}


def reduce(value, kept):
    if isinstance(kept, dict) and isinstance(value, dict):
        return {key: reduce(value[key], kept[key]) for key in kept if key in value}
    if isinstance(kept, list) and isinstance(value, list):
        return [reduce(item, kept[0]) for item in value]
    return value


examples = json.loads((MODULES / "@octokit/webhooks-examples/api.github.com/index.json").read_text())
examples = {entry["name"]: [reduce(example, KEPT) for example in entry["examples"]] for entry in examples}


def pick(event, **wanted):
    """The first example with those members."""
    return copy.deepcopy(next(e for e in examples[event] if all(e.get(key) == value for key, value in wanted.items())))


def fork(repository):
    """The same repository in somebody else's account."""
    return {**repository, "id": repository["id"] + 1, "fork": True, "full_name": "mallory/" + repository["full_name"].split("/")[1],
            "owner": {"login": "mallory"}}


made = {
    "push_branch": pick("push", ref="refs/heads/master"),
    "push_tag": pick("push", ref="refs/tags/simple-tag", deleted=False),
    "pull_request": pick("pull_request", action="synchronize"),
    "pull_request_closed": pick("pull_request", action="closed"),
    "pull_request_review": pick("pull_request_review", action="submitted"),
    "merge_group": pick("merge_group"),
    "workflow_dispatch": pick("workflow_dispatch"),
    "repository_dispatch": pick("repository_dispatch"),
    "release": pick("release", action="published"),
    "issue_comment": next(e for e in examples["issue_comment"]),
    "workflow_run": next(e for e in examples["workflow_run"] if e["workflow_run"]["pull_requests"]),
}
made["pull_request_fork"] = copy.deepcopy(made["pull_request"])
head = made["pull_request_fork"]["pull_request"]["head"]
head["repo"], head["user"] = fork(head["repo"]), {"login": "mallory"}
made["pull_request_fork_deleted"] = copy.deepcopy(made["pull_request_fork"])
made["pull_request_fork_deleted"]["pull_request"]["head"]["repo"] = None
# The base is itself a fork: `head.repo.fork` alone says nothing.
made["pull_request_in_a_fork"] = copy.deepcopy(made["pull_request"])
for repository in (made["pull_request_in_a_fork"]["pull_request"]["head"]["repo"],
                   made["pull_request_in_a_fork"]["pull_request"]["base"]["repo"], made["pull_request_in_a_fork"]["repository"]):
    repository["fork"] = True
made["dependabot"] = copy.deepcopy(made["pull_request"])
made["dependabot"]["pull_request"]["user"] = made["dependabot"]["sender"] = {"login": "dependabot[bot]"}
made["dependabot"]["pull_request"]["head"]["ref"] = "dependabot/npm_and_yarn/left-pad-1.3.0"

run = made["workflow_run"]["workflow_run"]
run["event"] = "pull_request"
run["head_repository"] = copy.deepcopy(made["workflow_run"]["repository"])
request = run["pull_requests"][0]
request["head"]["sha"], request["head"]["ref"] = run["head_sha"], run["head_branch"]
request["base"]["repo"]["id"] = made["workflow_run"]["repository"]["id"]
made["workflow_run_fork"] = copy.deepcopy(made["workflow_run"])
run = made["workflow_run_fork"]["workflow_run"]
run["head_repository"], run["pull_requests"] = fork(run["head_repository"]), []
made["workflow_run_push"] = copy.deepcopy(made["workflow_run"])
made["workflow_run_push"]["workflow_run"].update(event="push", pull_requests=[])

(HERE / "events.json").write_text(json.dumps(made, indent=1, sort_keys=True) + "\n")
vendors = json.loads((MODULES / "ci-info/vendors.json").read_text())
(HERE / "vendors.json").write_text("[\n" + ",\n".join(" " + json.dumps(vendor) for vendor in vendors) + "\n]\n")
