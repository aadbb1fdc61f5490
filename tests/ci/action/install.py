#!/usr/bin/env python3
"""Tries ci/install.sh against a mirror on this machine: usage: install.py BINARY

Every case starts it as a user would, with an environment of its own, and looks at what it printed, where the file went and
what it said. Closes with `N passed, N failed`.
"""
import functools
import hashlib
import http.server
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor

ROOT = pathlib.Path(__file__).resolve().parents[3]
TARGET = "x86_64-unknown-linux-musl" if os.uname().machine == "x86_64" else "aarch64-unknown-linux-musl"
CASES = []


class Mirror(http.server.SimpleHTTPRequestHandler):
    """Serves a directory, counts what was asked for, and cuts the body of a path below /short/."""

    asked = []

    def log_message(self, *_):
        pass

    def do_GET(self):
        Mirror.asked.append(self.path)
        if not self.path.startswith("/short/"):
            return super().do_GET()
        self.send_response(200)
        self.send_header("Content-Length", "1000000")
        self.end_headers()
        self.wfile.write(b"x" * 1000)
        self.close_connection = True


def case(function):
    CASES.append(function)
    return function


class World:
    """A scratch directory with a checkout's ci/, a mirror of one release and a caller."""

    def __init__(self, work, port, binary, version):
        self.work, self.port, self.version = work, port, version
        self.binary = binary
        self.ci = work / "check out" / "ci"
        self.ci.mkdir(parents=True)
        shutil.copy(ROOT / "ci/install.sh", self.ci)
        self.cache = work / "tool cache"
        self.asset = f"v{version}/sealmark-{TARGET}"
        self.hash = hashlib.sha256(binary.read_bytes()).hexdigest()
        self.checksums([(self.hash, self.asset)])

    def checksums(self, lines):
        header = (ROOT / "ci/checksums.txt").read_text().splitlines()[0]
        (self.ci / "checksums.txt").write_text("\n".join([header, *(f"{hash}  {path}" for hash, path in lines)]) + "\n")

    def mirror(self, part="good"):
        return f"http://127.0.0.1:{self.port}/{part}"

    def install(self, *, piped=False, path=None, **variables):
        env = {
            "PATH": path or os.environ["PATH"],
            "HOME": str(self.work),
            "RUNNER_TOOL_CACHE": str(self.cache),
            "SEALMARK_DOWNLOAD_URL": self.mirror(),
            **variables,
        }
        env = {name: value for name, value in env.items() if value is not None}
        script = self.ci / "install.sh"
        command = ["/bin/sh"] if piped else ["/bin/sh", str(script)]
        return subprocess.run(
            command, input=script.read_text() if piped else "", env=env, cwd=self.work, capture_output=True, text=True, timeout=120
        )

    def expected_place(self):
        return self.cache / "sealmark" / self.version / TARGET / "sealmark"

    def works(self, done, place=None):
        place = place or self.expected_place()
        assert done.returncode == 0, done.stderr
        assert done.stdout == f"{place}\n", (done.stdout, done.stderr)
        assert hashlib.sha256(place.read_bytes()).hexdigest() == self.hash
        assert os.access(place, os.X_OK)
        self.nothing_left()

    def stops(self, done, *words):
        assert done.returncode == 1, (done.returncode, done.stdout, done.stderr)
        assert done.stdout == "", done.stdout
        for word in ("error: ", "help: ", *words):
            assert word in done.stderr, (word, done.stderr)
        self.nothing_left()

    def nothing_left(self):
        left = [path for path in self.work.rglob("*") if path.name.startswith((".sealmark.", "sealmark."))]
        assert not left, left


def tools(work, *absent):
    """A PATH on which those programs are not."""
    place = work / "bin"
    place.mkdir()
    for directory in os.environ["PATH"].split(":"):
        for program in pathlib.Path(directory).glob("*") if pathlib.Path(directory).is_dir() else ():
            if program.name not in absent and not (place / program.name).is_symlink():
                (place / program.name).symlink_to(program)
    return str(place)


@case
def a_released_version_is_downloaded_and_verified(world):
    done = world.install()
    world.works(done)
    assert "verified" in done.stderr


@case
def a_version_may_be_given_with_or_without_its_v(world):
    world.works(world.install(SEALMARK_VERSION=f"v{world.version}"))
    world.works(world.install(SEALMARK_VERSION=world.version))


@case
def the_newest_release_is_the_last_one_listed(world):
    world.checksums([("0" * 64, f"v0.0.1/sealmark-{TARGET}"), (world.hash, world.asset)])
    world.works(world.install())


@case
def a_second_install_asks_the_mirror_for_nothing(world):
    world.works(world.install())
    world.works(world.install(SEALMARK_DOWNLOAD_URL="http://127.0.0.1:9/nobody"))


@case
def a_cached_file_that_was_changed_is_replaced(world):
    world.works(world.install())
    world.expected_place().write_text("#!/bin/sh\necho sealmark 9\n")
    done = world.install()
    world.works(done)
    assert "replacing it" in done.stderr


@case
def a_file_with_another_hash_is_refused(world):
    world.checksums([("0" * 64, world.asset)])
    world.stops(world.install(), world.hash, "0" * 64)
    assert not world.expected_place().exists()


@case
def a_download_that_was_cut_short_is_refused(world):
    world.stops(world.install(SEALMARK_DOWNLOAD_URL=world.mirror("short")), "could not be downloaded")
    assert not world.expected_place().exists()


@case
def a_download_that_wget_takes_for_whole_is_refused_by_its_hash(world):
    half = world.work / "mirror" / "half" / world.asset
    half.parent.mkdir(parents=True)
    half.write_bytes(world.binary.read_bytes()[:1000])
    world.stops(world.install(SEALMARK_DOWNLOAD_URL=f"file://{world.work}/mirror/half"), "is not the released file")


@case
def a_version_nobody_released_stops_before_any_request(world):
    Mirror.asked.clear()
    world.stops(world.install(SEALMARK_VERSION="7.7.7"), "7.7.7 is not in the checksums", f"known: {world.version}")
    assert Mirror.asked == []


@case
def before_the_first_release_there_is_nothing_to_install(world):
    world.checksums([])
    world.stops(world.install(), "no release is known yet", "`binary`")


@case
def a_version_without_a_build_for_this_machine_stops(world):
    world.checksums([(world.hash, f"v{world.version}/sealmark-aarch64-apple-darwin")])
    world.stops(world.install(), f"no build for {TARGET}")


@case
def what_is_no_version_is_refused(world):
    for wrong in ("latest", "1", "1.2", "1.2.3/../../x", "1.2.3;id", "$(id)", "1.2.3\n4.5.6", "../1.2.3"):
        world.stops(world.install(SEALMARK_VERSION=wrong), "not of the form 1.2.3")


@case
def what_is_no_hash_is_refused(world):
    for wrong in ("abc", "g" * 64, world.hash.upper()):
        world.checksums([(wrong, world.asset)])
        world.stops(world.install(), "is no SHA-256")


@case
def a_mirror_may_be_a_directory(world):
    copy = world.work / "a mirror" / world.asset
    copy.parent.mkdir(parents=True)
    shutil.copy(world.binary, copy)
    world.works(world.install(SEALMARK_DOWNLOAD_URL=f"file://{world.work}/a mirror"))


@case
def a_mirror_over_plain_http_elsewhere_is_refused(world):
    for wrong in ("http://mirror.example/x", "ftp://mirror.example", "mirror", "http://127.0.0.1.mirror.example/"):
        world.stops(world.install(SEALMARK_DOWNLOAD_URL=wrong), "is neither https:// nor file://")
    world.stops(world.install(SEALMARK_DOWNLOAD_URL="http://127.0.0.1:80@mirror.example/"), "in the clear")


@case
def a_password_in_a_mirror_is_never_shown(world):
    done = world.install(SEALMARK_DOWNLOAD_URL="https://me:hunter2@127.0.0.1:9/x")
    world.stops(done, "https://127.0.0.1:9/x/v")
    assert "hunter2" not in done.stderr


@case
def without_curl_wget_does(world):
    world.works(world.install(path=tools(world.work, "curl")))


@case
def without_either_it_says_so(world):
    world.stops(world.install(path=tools(world.work, "curl", "wget")), "neither curl nor wget")


@case
def without_sha256sum_shasum_or_openssl_does(world):
    world.works(world.install(path=tools(world.work, "sha256sum", "openssl")))
    shutil.rmtree(world.cache)
    shutil.rmtree(world.work / "bin")
    world.works(world.install(path=tools(world.work, "sha256sum", "shasum")))


@case
def without_any_of_them_nothing_is_installed(world):
    world.stops(world.install(path=tools(world.work, "sha256sum", "openssl", "shasum")), "compute a SHA-256")


@case
def many_at_once_leave_one_good_file(world):
    with ThreadPoolExecutor(6) as pool:
        for done in [future.result() for future in [pool.submit(world.install) for _ in range(6)]]:
            assert done.returncode == 0 and done.stdout == f"{world.expected_place()}\n", done
    world.works(world.install())


@case
def a_directory_of_ones_own_is_used(world):
    place = world.work / "my bin"
    world.works(world.install(SEALMARK_INSTALL_DIR=str(place)), place / "sealmark")
    world.works(world.install(SEALMARK_INSTALL_DIR="my bin"), place / "sealmark")


@case
def off_a_runner_it_goes_to_the_cache_of_the_user(world):
    place = f"sealmark/{world.version}/{TARGET}/sealmark"
    world.works(world.install(RUNNER_TOOL_CACHE=None, XDG_CACHE_HOME=str(world.work / "xdg")), world.work / "xdg" / place)
    world.works(world.install(RUNNER_TOOL_CACHE=None), world.work / ".cache" / place)
    world.stops(world.install(RUNNER_TOOL_CACHE=None, HOME=None), "SEALMARK_INSTALL_DIR")


@case
def piped_into_a_shell_it_verifies_with_the_checksums_it_is_given(world):
    world.works(world.install(piped=True, SEALMARK_CHECKSUMS=str(world.ci / "checksums.txt")))
    world.stops(world.install(piped=True, SEALMARK_CHECKSUMS=str(world.work / "none")), "cannot be read")


@case
def a_script_that_was_cut_short_does_nothing(world):
    text = (world.ci / "install.sh").read_text()
    (world.ci / "install.sh").write_text(text[: text.rindex("main")])
    done = world.install(piped=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", ""), done


@case
def a_build_of_ones_own_is_used_as_it_is(world):
    done = world.install(SEALMARK_BINARY=str(world.binary), SEALMARK_DOWNLOAD_URL="http://127.0.0.1:9/nobody")
    assert done.returncode == 0 and done.stdout == f"{world.binary}\n", done
    (world.work / "other").mkdir()
    (world.work / "other/sealmark").symlink_to(world.binary)
    done = world.install(SEALMARK_BINARY="other/sealmark")
    assert done.stdout == f"{world.work}/other/sealmark\n", done


@case
def what_is_not_sealmark_is_refused(world):
    world.stops(world.install(SEALMARK_BINARY="/bin/true"), "does not run here as sealmark")
    world.stops(world.install(SEALMARK_BINARY="nothing/here"), "is not a file")


@case
def a_release_that_says_another_version_is_refused(world):
    world.checksums([(world.hash, f"v9.9.9/sealmark-{TARGET}")])
    copy = world.work / "mirror" / f"v9.9.9/sealmark-{TARGET}"
    copy.parent.mkdir(parents=True)
    shutil.copy(world.binary, copy)
    world.stops(world.install(SEALMARK_DOWNLOAD_URL=f"file://{world.work}/mirror"), "does not run here as sealmark 9.9.9")


@case
def an_attestation_that_is_asked_for_is_verified_each_time(world):
    path = tools(world.work, "gh")
    world.stops(world.install(path=path, SEALMARK_VERIFY_ATTESTATION="true"), "gh is not installed")
    log = world.work / "log"
    gh = world.work / "bin/gh"
    gh.write_text(f'#!/bin/sh\necho "$*" >> "{log}"\nexit "$(cat "{world.work}/code")"\n')
    gh.chmod(0o755)
    (world.work / "code").write_text("0")
    world.works(world.install(path=path, SEALMARK_VERIFY_ATTESTATION="true"))
    said = log.read_text()
    assert said.startswith(f"attestation verify {world.expected_place()} --repo sealmark/action --signer-workflow "), said
    (world.work / "code").write_text("1")
    world.stops(world.install(path=path, SEALMARK_VERIFY_ATTESTATION="true"), "no valid attestation")
    world.works(world.install(path=path, SEALMARK_VERIFY_ATTESTATION="false"))


@case
def the_runner_names_the_machine(world):
    builds = {
        ("Linux", "X64"): "x86_64-unknown-linux-musl",
        ("Linux", "ARM64"): "aarch64-unknown-linux-musl",
        ("macOS", "X64"): "x86_64-apple-darwin",
        ("macOS", "ARM64"): "aarch64-apple-darwin",
    }
    for (system, machine), build in builds.items():
        Mirror.asked.clear()
        world.checksums([("0" * 64, f"v{world.version}/sealmark-{build}")])
        world.stops(world.install(RUNNER_OS=system, RUNNER_ARCH=machine), f"/v{world.version}/sealmark-{build} ")
        assert Mirror.asked == [f"/good/v{world.version}/sealmark-{build}"], Mirror.asked
    for system, machine in (("Linux", "X86"), ("Linux", "ARM"), ("Windows", "X64"), ("Plan9", "X64")):
        world.stops(world.install(RUNNER_OS=system, RUNNER_ARCH=machine), "there is no build for")


def main():
    binary = pathlib.Path(sys.argv[1]).resolve()
    version = subprocess.run([binary, "--version"], capture_output=True, text=True, check=True).stdout.split()[1]
    failed = 0
    with tempfile.TemporaryDirectory(prefix="install-") as work:
        served = pathlib.Path(work) / "served"
        (served / "good" / f"v{version}").mkdir(parents=True)
        for name in (TARGET, "aarch64-apple-darwin", "x86_64-apple-darwin", "aarch64-unknown-linux-musl"):
            (served / "good" / f"v{version}" / f"sealmark-{name}").write_bytes(b"another machine's")
        shutil.copy(binary, served / "good" / f"v{version}" / f"sealmark-{TARGET}")
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Mirror, directory=served))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        for number, function in enumerate(CASES):
            name = function.__name__.replace("_", " ")
            place = pathlib.Path(work) / str(number)
            place.mkdir()
            try:
                function(World(place, server.server_port, binary, version))
            except (AssertionError, OSError, subprocess.TimeoutExpired) as error:
                failed += 1
                print(f"FAILED {name}: {error!r}")
            shutil.rmtree(place)
        server.shutdown()
    print(f"install: {len(CASES) - failed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
