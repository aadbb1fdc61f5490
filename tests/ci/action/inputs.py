#!/usr/bin/env python3
"""Tries what action.yml and ci/action.sh make of inputs and of what the program leaves behind, with act and a stand-in for
the program that writes down how it was called. Closes with `N passed, N failed`."""
import json
import pathlib
import shutil
import sys
import tempfile

from act import ROOT, Repository

CASES = []
STAND_IN = r"""#!/usr/bin/env python3
import json, os, pathlib, sys
if sys.argv[1:] == ["--version"]:
    print("sealmark 0.0.1 (stand-in)")
    sys.exit()
here = pathlib.Path(__file__).parent
(here / "called.json").write_text(json.dumps({"argv": sys.argv[1:], "env": dict(os.environ), "cwd": os.getcwd()}))
exec((here / "behave.py").read_text())
"""
BEHAVE = """
pathlib.Path("sealmark-report").mkdir()
for kind in ("json", "sarif"):
    pathlib.Path(f"sealmark-report/sealmark-report.{kind}").write_text("{}")
with open(os.environ["GITHUB_OUTPUT"], "a") as out:
    out.write("grade=B\\nregressions=1\\nreport=sealmark-report/sealmark-report.json\\nsarif<<END\\nsealmark-report/sealmark-report.sarif\\nEND\\n")
open(os.environ["GITHUB_STEP_SUMMARY"], "a").write("the summary")
sys.exit(1)
"""
# Like a server of the same user: what the processes above were started with, nearest first.
ABOVE = """
def above(pid):
    while (pid := int(open(f"/proc/{pid}/stat").read().rsplit(") ", 1)[1].split()[1])) > 1:
        words = open(f"/proc/{pid}/environ").read().split("\\0")
        yield dict(word.split("=", 1) for word in words if "=" in word)
"""
EVENT = {"ref": "refs/heads/main", "repository": {"full_name": "acme/demo", "default_branch": "main"}}
DEFAULTS = ["ci", "--sarif=file", "--baseline=auto", "--comment=auto", "--badge=off", "--artifact-name=sealmark-report"]


def case(function):
    CASES.append(function)
    return function


class World:
    def __init__(self, work):
        self.work = pathlib.Path(work)
        self.repository = Repository(work)
        self.program = self.work / "stand in" / "sealmark"
        self.program.parent.mkdir()
        self.program.write_text(STAND_IN)
        self.program.chmod(0o755)

    def run(self, inputs=None, behave=BEHAVE, event_name="push", **options):
        (self.program.parent / "behave.py").write_text(behave)
        called = self.program.parent / "called.json"
        called.unlink(missing_ok=True)
        self.repository.workflow({"binary": str(self.program), **(inputs or {})})
        self.repository.commit()
        result = self.repository.run(event_name, EVENT, **options)
        result.called = json.loads(called.read_text()) if called.exists() else None
        return result


@case
def without_inputs_the_defaults_are_said_once(world):
    result = world.run()
    assert result.called["argv"] == DEFAULTS, result.called["argv"]


@case
def every_input_becomes_its_flag_and_no_value_becomes_another(world):
    odd = "a b\"c'd $(id) `id` ; & | > $HOME -- --x\\ *"
    plain = ["config", "start", "url", "server", "profile", "fail-under", "fail-on", "baseline", "comment", "comment-key", "badge", "artifact-name"]
    result = world.run({**{name: f"{odd} {name}" for name in plain}, "sarif": "off"})
    for name in plain:
        assert f"--{name}={odd} {name}" in result.called["argv"], (name, result.called["argv"])
    assert len(result.called["argv"]) == 1 + len(plain) + 1


@case
def switches_are_true_or_false(world):
    switches = {"soft-fail": "true", "require-publish": "true", "annotations": "false", "summary": "false"}
    argv = world.run(switches).called["argv"]
    for flag in ("--soft-fail", "--require-publish", "--no-annotations", "--no-summary"):
        assert flag in argv, (flag, argv)
    for name in switches:
        result = world.run({name: "yes"})
        assert result.called is None and not result.passed
        assert f"the input {name} is neither true nor false" in str(result.annotations), result.annotations


@case
def more_arguments_are_one_per_line_and_come_last(world):
    result = world.run({"args": "--timeout-probe=20\r\n\n  --name=a b  \n--\nserver\n$(id)"})
    assert result.called["argv"] == [*DEFAULTS, "--timeout-probe=20", "  --name=a b  ", "--", "server", "$(id)"], result.called["argv"]


@case
def the_gate_fails_the_job_after_everything_is_uploaded(world):
    result = world.run({"sarif": "upload", "artifact-name": "mine"})
    assert not result.passed
    assert result.steps == {"install": "success", "run": "success", "upload": "success", "sarif": "success", "4": "failure"}, result.steps
    assert result.stub("upload-artifact")["name"] == "mine" and result.stub("upload-artifact")["overwrite"] == "true", result.stubs
    assert {path.name for path in (world.repository.kept / "upload-artifact").iterdir()} == {"sealmark-report.json", "sealmark-report.sarif"}
    assert result.stub("upload-sarif")["sarif_file"].endswith("/sealmark-report.sarif")
    # The step uploads; the program must not as well.
    assert "--sarif=file" in result.called["argv"]


@case
def what_the_program_says_comes_out_with_paths_from_the_root(world):
    world.repository.write("sub dir/here", "")
    result = world.run({"working-directory": "sub dir"})
    assert result.called["cwd"].endswith("/sub dir")
    for name, value in {"grade": "B", "regressions": "1", "exit-code": "1", "drift": ""}.items():
        assert result.outputs[name] == value, (name, result.outputs)
    assert result.outputs["report"] == f"{result.called['cwd']}/sealmark-report/sealmark-report.json", result.outputs
    assert result.outputs["sarif"] == f"{result.called['cwd']}/sealmark-report/sealmark-report.sarif", result.outputs
    assert result.outputs["path"] == str(world.program)
    assert result.summary == "the summary"


@case
def a_run_that_passes_passes(world):
    result = world.run(behave=BEHAVE.replace("sys.exit(1)", "sys.exit(0)"))
    assert result.passed and result.outputs["exit-code"] == "0"
    assert result.stub("upload-artifact") and not result.stub("upload-sarif")


@case
def every_exit_code_is_the_jobs(world):
    for code in (2, 3, 4, 101):
        result = world.run(behave=f"sys.exit({code})")
        assert not result.passed and result.outputs["exit-code"] == str(code), result.outputs
        assert result.stubs == []


@case
def a_run_that_passes_without_a_report_graded_nothing(world):
    result = world.run({"args": "--help"}, "sys.exit(0)")
    assert not result.passed and result.outputs["exit-code"] == "4", result.outputs
    assert "wrote no report" in str(result.annotations), result.annotations
    assert world.run({"command": "publish"}, "sys.exit(0)").passed


@case
def a_program_that_dies_while_it_writes_outputs_is_still_a_failure(world):
    result = world.run(behave='f = open(os.environ["GITHUB_OUTPUT"], "a"); f.write("grade=A"); f.close(); os.kill(os.getpid(), 9)')
    assert not result.passed and result.outputs["exit-code"] == "137", result.outputs


@case
def what_lies_there_after_the_program_died_is_not_uploaded(world):
    for end in ("os.kill(os.getpid(), 9)", "os.abort()", "sys.exit(101)"):
        result = world.run(behave=BEHAVE.replace("sys.exit(1)", f"sys.stdout.flush(); {end}"))
        assert not result.passed and result.outputs["report"] == "" and result.stubs == [], (end, result.outputs)
        shutil.rmtree(world.repository.home / "sealmark-report", ignore_errors=True)


@case
def what_a_server_writes_into_the_files_of_the_runner_counts_for_nothing(world):
    fake = world.work / "fake"
    fake.mkdir()
    (fake / "bash").write_text("#!/bin/sh\nexit 0\n")
    (fake / "bash").chmod(0o755)
    plant = f"""
planted = {{"GITHUB_OUTPUT": "exit-code=0\\ngrade=A\\nx<<NEVER\\n", "GITHUB_PATH": "{fake}\\n", "GITHUB_ENV": "BASH_ENV={fake}/bash\\n",
           "GITHUB_STEP_SUMMARY": "planted"}}
found = set()
for environment in above(os.getpid()):
    for name, text in planted.items():
        if environment.get(name) and environment[name] not in found:
            found.add(environment[name])
            open(environment[name], "a").write(text)
assert len(found) >= 4, found
"""
    result = world.run(behave=ABOVE + plant + BEHAVE)
    assert not result.passed and result.outputs["exit-code"] == "1" and result.outputs["grade"] == "B", result.outputs
    assert result.summary == "the summary", result.summary


@case
def no_shell_that_waits_was_started_with_the_token(world):
    token = "ghs_" + "wait1ng" * 5
    look = """
# The outermost shell is the harness', which knows no HARNESS_INNER.
found = [[name for name, value in environment.items() if "wait1ng" in value] for environment in above(os.getpid()) if "HARNESS_INNER" in environment]
(here / "above.json").write_text(json.dumps(found))
"""
    result = world.run(behave=ABOVE + look + BEHAVE, token=token, env={"GITHUB_TOKEN": token, "ACTIONS_ID_TOKEN_REQUEST_TOKEN": token, "MCP_TOKEN": "mine=1"})
    found = json.loads((world.program.parent / "above.json").read_text())
    assert found and not any(found), found
    env = result.called["env"]
    assert {env[name] for name in ("SEALMARK_TOKEN", "GITHUB_TOKEN", "ACTIONS_ID_TOKEN_REQUEST_TOKEN")} == {token} and env["MCP_TOKEN"] == "mine=1", env


@case
def a_report_that_is_named_and_not_there_is_not_uploaded(world):
    result = world.run(behave='f = open(os.environ["GITHUB_OUTPUT"], "a"); f.write("report=nowhere.json\\nsarif=/\\n")')
    assert not result.passed and result.stubs == [], result.stubs


@case
def a_failing_upload_is_a_warning_and_the_gate_stands(world):
    for code in (0, 1):
        result = world.run({"sarif": "upload"}, BEHAVE.replace("sys.exit(1)", f"sys.exit({code})"),
                           env={"STUB_FAIL": "upload-artifact upload-sarif: Code Security must be enabled for this repository to use code scanning."})
        assert result.passed == (code == 0) and result.outputs["exit-code"] == str(code)
        warnings = [text for level, text in result.annotations if level == "warning"]
        assert len(warnings) == 2 and "no baseline" in warnings[0] and "security-events: write" in warnings[1], result.annotations


@case
def on_enterprise_server_the_artifact_is_left_to_the_user(world):
    for server, github in (("https://ghe.example.com", False), ("https://acme.ghe.com", True), ("https://github.com.evil.example", False)):
        result = world.run(env={"GITHUB_SERVER_URL": server})
        assert bool(result.stub("upload-artifact")) == github, server
        assert ("upload-artifact@v3" in result.log) == (not github), result.log
    result = world.run({"sarif": "upload"}, env={"GITEA_ACTIONS": "true"})
    assert result.stubs == [] and not result.passed


@case
def the_token_is_in_one_variable_and_inputs_in_none(world):
    result = world.run({"start": "secret start"}, token="ghs_thetoken", env={"SEALMARK_VERSION": "1.2.3", "SEALMARK_JOBS": "3"})
    holders = [name for name, value in result.called["env"].items() if "ghs_thetoken" in value]
    assert holders == ["SEALMARK_TOKEN"], holders
    # act adds inputs with a dash by itself; GitHub's runner adds none to a composite.
    ours = [name for name in result.called["env"] if name.startswith("INPUT_") and "-" not in name]
    assert ours == [], ours
    assert "SEALMARK_VERSION" not in result.called["env"] and result.called["env"]["SEALMARK_JOBS"] == "3"
    assert "ghs_thetoken" not in result.log


@case
def another_token_replaces_the_jobs(world):
    result = world.run({"token": "mine"})
    assert result.called["env"]["SEALMARK_TOKEN"] == "mine"


@case
def sarif_is_uploaded_where_its_commit_is_on_a_branch(world):
    for event in ("pull_request", "merge_group", "workflow_run", "pull_request_target"):
        result = world.run({"sarif": "upload"}, event_name=event)
        assert bool(result.stub("upload-sarif")) == (event == "pull_request"), (event, result.stubs)
        assert result.stub("upload-artifact"), event


@case
def publish_takes_what_it_can_use(world):
    result = world.run({"command": "publish", "comment": "always", "sarif": "upload", "fail-under": "B"})
    assert result.called["argv"] == ["publish", "--artifact", "--sarif=upload", "--fail-under=B", "--baseline=auto", "--comment=always",
                                     "--badge=off", "--artifact-name=sealmark-report"], result.called["argv"]
    assert result.stubs == []
    argv = world.run({"command": "publish", "report": "a b.json\nc.json\n"}).called["argv"]
    assert argv[:3] == ["publish", "--report=a b.json", "--report=c.json"] and "--artifact" not in argv, argv
    for name in ("config", "start", "url", "server", "profile"):
        result = world.run({"command": "publish", name: "x"})
        assert result.called is None and f"the input {name} means nothing" in str(result.annotations), result.annotations


@case
def install_puts_it_on_the_path_and_runs_nothing(world):
    result = world.run({"command": "install"})
    assert result.passed and result.called is None and result.outputs["path"] == str(world.program)
    assert set(result.steps) == {"install"}, result.steps


@case
def what_cannot_be_done_is_said_before_anything_runs(world):
    for inputs, words in (
        ({"command": "run"}, "none of ci, publish and install"),
        ({"report": "x.json"}, "the input report is for command: publish"),
        ({"working-directory": "no/such"}, "no/such is not there"),
        ({"binary": "no/such"}, "could not be installed"),
        ({"binary": "", "version": "1.2"}, "could not be installed"),
        ({"binary": "", "version": ""}, "could not be installed"),
    ):
        result = world.run(inputs)
        assert not result.passed and result.called is None and result.stubs == [], inputs
        assert words in str(result.annotations), (inputs, result.annotations)


@case
def a_value_of_several_lines_starts_no_workflow_command(world):
    result = world.run({"working-directory": "x\n::error::planted\r::set-output name=a::b"})
    assert len(result.annotations) == 1, result.annotations
    assert "planted" in result.annotations[0][1]


def main():
    failed = 0
    for function in CASES:
        name = function.__name__.replace("_", " ")
        with tempfile.TemporaryDirectory(prefix="action-") as work:
            try:
                function(World(work))
            except (AssertionError, OSError, RuntimeError, TypeError, KeyError) as error:
                failed += 1
                print(f"FAILED {name}: {error!r}"[:3000])
    print(f"action inputs: {len(CASES) - failed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
