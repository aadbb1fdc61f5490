#!/usr/bin/env python3
"""Tries ci/release.sh with a repository of its own and a stand-in for `gh`. Closes with `N passed, N failed`."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
CASES = []
# Keeps the files of a draft in a directory and writes down what it was asked.
GH = """#!/bin/bash
echo "$*" >> "$GH_HOME/asked"
case "$1 $2" in
    "release view") [[ -e $GH_HOME/draft ]] && echo true || exit 1 ;;
    "release delete") rm -r "$GH_HOME/draft" ;;
    "release create")
        mkdir "$GH_HOME/draft"
        for word; do if [[ -f $word && $word == sealmark-* ]]; then cp "$word" "$GH_HOME/draft"; fi; done
        if [[ -n ${GH_SPOILS-} ]]; then echo x >> "$GH_HOME/draft/$GH_SPOILS"; fi ;;
    "release download") while [[ $1 != --dir ]]; do shift; done; cp "$GH_HOME/draft/"* "$2" ;;
    "release edit") touch "$GH_HOME/published" ;;
    *) exit 9 ;;
esac
"""
ASSETS = ["sealmark-aarch64-apple-darwin", "sealmark-aarch64-unknown-linux-musl", "sealmark-x86_64-apple-darwin", "sealmark-x86_64-unknown-linux-musl"]


def case(function):
    CASES.append(function)
    return function


class World:
    def __init__(self, work):
        self.work, self.home = work, work / "checkout"
        self.home.mkdir()
        for name in ("ci", "templates"):
            shutil.copytree(ROOT / name, self.home / name)
        self.write("Cargo.toml", '[package]\nname = "sealmark"\nversion = "0.2.0"\n\n[dependencies]\nother = { version = "9.9.9" }\n')
        self.write("CHANGELOG.md", "# Changes\n\n## [Unreleased]\n\n## [0.2.0] - 2026-12-01\n\n- New.\n\n## [0.1.0] - 2026-11-01\n\n- Old.\n")
        self.write("bin/gh", GH)
        (self.home / "bin/gh").rename(work / "gh")
        (self.home / "bin").rmdir()
        (work / "gh").chmod(0o755)
        for command in (["git", "init", "--quiet", "--bare", "--initial-branch=main", str(work / "origin")], ["git", "init", "--quiet", "--initial-branch=main"],
                        ["git", "remote", "add", "origin", str(work / "origin")], ["git", "add", "--all"]):
            subprocess.run(command, cwd=self.home, check=True)
        self.git("commit", "--quiet", "--message", "S")
        self.git("push", "--quiet", "origin", "main")
        self.start = self.git("rev-parse", "HEAD")
        for name in ASSETS:
            self.write(f"dist/{name}", f"the build {name}")

    def write(self, name, text):
        path = self.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def git(self, *words, where=None):
        author = ["-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false"]
        return subprocess.run(["git", *author, *words], cwd=where or self.home, check=True, capture_output=True, text=True).stdout.strip()

    def origin(self, name):
        done = subprocess.run(["git", "rev-parse", "--quiet", "--verify", name], cwd=self.work / "origin", capture_output=True, text=True)
        return done.stdout.strip()

    def step(self, name, **variables):
        output = self.work / "output"
        output.write_text("")
        env = {"PATH": f"{self.work}:{os.environ['PATH']}", "HOME": str(self.work), "GH_HOME": str(self.work), "GH_TOKEN": "t", "VERSION": "0.2.0",
               "ACTION_TAG": "v1", "DEFAULT_BRANCH": "main", "BRANCH": "refs/heads/main", "WANTED": "0.2.0", "GITHUB_SERVER_URL": "https://github.com",
               "GITHUB_OUTPUT": str(output), **variables}
        done = subprocess.run([str(self.home / "ci/release.sh"), name], env=env, cwd=self.work, capture_output=True, text=True)
        done.outputs = dict(line.split("=", 1) for line in output.read_text().splitlines())
        return done

    def works(self, name, **variables):
        done = self.step(name, **variables)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.outputs

    def stops(self, name, word, **variables):
        done = self.step(name, **variables)
        assert done.returncode == 1 and word in done.stdout, (done.returncode, done.stdout, done.stderr)


@case
def a_commit_of_the_default_branch_with_its_changes_described_can_be_released(world):
    assert world.works("plan") == {"version": "0.2.0"}
    world.stops("plan", "Cargo.toml says 0.2.0", WANTED="0.3.0")
    world.stops("plan", "made from main", BRANCH="refs/heads/topic")
    for heading in ("[0.2.01] - 2026-12-01", "[0.2.0] - unreleased", "[Unreleased]"):
        world.write("CHANGELOG.md", f"## {heading}\n\n- New.\n")
        world.stops("plan", "no section [0.2.0] with a date")


@case
def what_is_released_is_not_released_again(world):
    world.git("tag", "v0.2.0")
    world.stops("plan", "released already")


@case
def a_draft_is_made_at_a_commit_that_holds_its_hashes(world):
    commit = world.works("draft")["commit"]
    assert world.git("rev-parse", f"{commit}^") == world.start and world.origin("release/v0.2.0") == commit
    changed = world.git("show", "--name-only", "--format=", commit).split()
    assert changed == ["ci/checksums.txt", "templates/sealmark.yml"], changed
    listed = [line for line in (world.home / "ci/checksums.txt").read_text().splitlines() if not line.startswith("#")]
    assert sorted(line.split("  ")[1] for line in listed) == [f"v0.2.0/{name}" for name in ASSETS]
    assert sorted(path.name for path in (world.home / "draft/v0.2.0").iterdir()) == ASSETS
    asked = (world.work / "asked").read_text()
    assert f"--draft --target {commit}" in asked and world.origin("main") == world.start
    assert (world.home / "notes.md").read_text().strip() == "- New."


@case
def a_draft_of_an_earlier_try_is_replaced(world):
    world.works("draft")
    world.git("reset", "--quiet", "--hard", world.start)
    assert world.works("draft")["commit"]
    assert "release delete" in (world.work / "asked").read_text()


@case
def a_draft_that_lacks_a_build_or_holds_another_is_refused(world):
    world.stops("draft", "the draft does not hold what was built", GH_SPOILS=ASSETS[0])
    (world.home / "dist" / ASSETS[0]).unlink()
    world.stops("draft", "does not hold what a release consists of")
    assert world.origin("main") == world.start


@case
def publishing_brings_the_commit_to_the_branch_and_moves_the_tag_last(world):
    commit = world.works("draft")["commit"]
    world.works("publish", COMMIT=commit)
    assert (world.origin("main"), world.origin("refs/tags/v1"), world.origin("release/v0.2.0")) == (commit, commit, "")
    assert (world.work / "published").exists()


@case
def when_the_branch_has_moved_nothing_is_published(world):
    commit = world.works("draft")["commit"]
    world.git("checkout", "--quiet", world.start)
    world.git("commit", "--quiet", "--allow-empty", "--message", "others")
    world.git("push", "--quiet", "origin", "HEAD:main")
    world.git("checkout", "--quiet", commit)
    world.stops("publish", "main has moved on", COMMIT=commit)
    assert not (world.work / "published").exists() and world.origin("refs/tags/v1") == ""


def main():
    failed = 0
    for function in CASES:
        with tempfile.TemporaryDirectory(prefix="release-") as work:
            try:
                function(World(pathlib.Path(work)))
            except (AssertionError, OSError, subprocess.CalledProcessError) as error:
                failed += 1
                print(f"FAILED {function.__name__.replace('_', ' ')}: {error!r}"[:2000])
    print(f"release: {len(CASES) - failed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
