#!/usr/bin/env bash
# The steps of action.yml. Inputs come as INPUT_* variables and become arguments of one program; nothing in them is
# evaluated. Bash 3.2 (macOS) must do.
#
#   ci/action.sh install   downloads and verifies sealmark
#   ci/action.sh run       puts the tokens out of sight, then `grade`
#   ci/action.sh grade     runs it; what it exits with becomes an output, so that later steps can upload what it wrote
#   ci/action.sh finish    says what was not uploaded, and exits with it
set -euo pipefail

here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)

# A value as the data of a workflow command.
escaped() {
    local text=$1
    text=${text//%/%25}
    text=${text//$'\r'/%0D}
    printf '%s' "${text//$'\n'/%0A}"
}

# A mistake in the workflow: exit 2, as the program does for a mistake on its command line.
mistake() {
    printf '::error title=sealmark::%s\n' "$(escaped "$1")"
    exit 2
}

# Of one line, so that no value is another output.
output() { printf '%s=%s\n' "$1" "${2//[$'\r\n']/ }" >> "$GITHUB_OUTPUT"; }

# Makes a file of the runner anew, whatever a server wrote to it or put in its place.
anew() {
    if [[ -z $1 ]]; then return; fi
    rm -rf -- "$1"
    cat > "$1"
}

# Whether an input is true; anything but true and false is a mistake.
yes_or_no() {
    case $2 in
        true) return 0 ;;
        false | '') return 1 ;;
        *) mistake "the input $1 is neither true nor false" ;;
    esac
}

arguments=()
# flag NAME VALUE: nothing for an empty value. With `=`, so that a value is never read as a flag.
flag() { if [[ -n $2 ]]; then arguments+=("--$1=$2"); fi; }
switch() { if yes_or_no "$1" "$2"; then arguments+=("--$1"); fi; }
switch_off() { if ! yes_or_no "$1" "$2"; then arguments+=("--no-$1"); fi; }

# One argument or file per line, the rest of the line as it is.
lines() {
    local line
    while IFS= read -r line || [[ -n $line ]]; do
        line=${line%$'\r'}
        if [[ -n ${line//[[:space:]]/} ]]; then printf '%s\0' "$line"; fi
    done <<< "$1"
}

add_lines() {
    local line
    while IFS= read -r -d '' line; do arguments+=("$1$line"); done < <(lines "$2")
}

# What `ci` takes and `publish` does not.
refuse_for_publish() {
    local name
    for name in CONFIG START URL SERVER PROFILE; do
        local variable=INPUT_$name
        if [[ -n ${!variable} ]]; then
            mistake "the input $(printf '%s' "$name" | tr '[:upper:]' '[:lower:]') means nothing with command: publish, which starts no server"
        fi
    done
}

build_arguments() {
    arguments=("$INPUT_COMMAND")
    case $INPUT_COMMAND in
        ci)
            if [[ -n $INPUT_REPORT ]]; then mistake "the input report is for command: publish; a run writes its own"; fi
            flag config "$INPUT_CONFIG"
            flag start "$INPUT_START"
            flag url "$INPUT_URL"
            flag server "$INPUT_SERVER"
            flag profile "$INPUT_PROFILE"
            # The action's own step uploads: it may do so where the token may not.
            if [[ $INPUT_SARIF == upload ]]; then flag sarif file; else flag sarif "$INPUT_SARIF"; fi
            ;;
        publish)
            refuse_for_publish
            if [[ -n ${INPUT_REPORT//[[:space:]]/} ]]; then add_lines --report= "$INPUT_REPORT"; else arguments+=(--artifact); fi
            flag sarif "$INPUT_SARIF"
            ;;
    esac
    flag fail-under "$INPUT_FAIL_UNDER"
    flag fail-on "$INPUT_FAIL_ON"
    switch soft-fail "$INPUT_SOFT_FAIL"
    flag baseline "$INPUT_BASELINE"
    flag comment "$INPUT_COMMENT"
    flag comment-key "$INPUT_COMMENT_KEY"
    switch_off annotations "$INPUT_ANNOTATIONS"
    switch_off summary "$INPUT_SUMMARY"
    flag badge "$INPUT_BADGE"
    flag artifact-name "$INPUT_ARTIFACT_NAME"
    switch require-publish "$INPUT_REQUIRE_PUBLISH"
    add_lines '' "$INPUT_ARGS"
}

# written NAME FILE: the last value of an output that the program wrote there, in either of the two forms of such a file.
written() {
    if [[ ! -f $2 ]]; then return; fi
    awk -v name="$1" '
        delimiter != "" { if ($0 == delimiter) delimiter = ""; else if (wanted) value = value == "" ? $0 : value "\n" $0; next }
        {
            equals = index($0, "="); here = index($0, "<<")
            if (here && (!equals || here < equals)) {
                delimiter = substr($0, here + 2); wanted = substr($0, 1, here - 1) == name; if (wanted) value = ""
            } else if (equals && substr($0, 1, equals - 1) == name) value = substr($0, equals + 1)
        }
        END { print value }' "$2"
}

# The path of a file that exists, from the root; of one line, as outputs are.
absolute() {
    if [[ -n $1 && -f $1 && $1$PWD != *$'\n'* ]]; then printf '%s/%s' "$(cd -- "$(dirname -- "$1")" && pwd)" "$(basename -- "$1")"; fi
}

# The artifact service that upload-artifact v4 and later talk to is there on GitHub alone.
on_github() {
    local host=${GITHUB_SERVER_URL#*://}
    host=${host%%[:/]*}
    [[ -z ${GITEA_ACTIONS-} && ($host == github.com || $host == *.ghe.com || $host == *.localhost) ]]
}

install() {
    local verify=false path
    if yes_or_no verify-attestation "$INPUT_VERIFY_ATTESTATION"; then verify=true; fi
    case $INPUT_COMMAND in
        ci | publish | install) ;;
        *) mistake "the input command is none of ci, publish and install" ;;
    esac
    path=$(SEALMARK_VERSION=$INPUT_VERSION SEALMARK_BINARY=$INPUT_BINARY SEALMARK_DOWNLOAD_URL=$INPUT_DOWNLOAD_URL \
        SEALMARK_INSTALL_DIR='' SEALMARK_CHECKSUMS='' SEALMARK_VERIFY_ATTESTATION=$verify GH_TOKEN=$INPUT_TOKEN \
        sh "$here/install.sh") || mistake "sealmark could not be installed; the log above says why and what to do"
    output path "$path"
    if [[ $INPUT_COMMAND == install ]]; then dirname -- "$path" >> "$GITHUB_PATH"; fi
}

# The environment that a process was started with can be read by every process of the same user, so by the servers, for as
# long as it lives. So whoever waits for the program is started without the tokens: they go through a pipe to the program
# alone, which hides its own.
run() {
    local name held=()
    for name in $(compgen -e); do
        if [[ $name == *TOKEN* ]]; then
            if [[ $name != INPUT_* ]]; then held+=("$name=${!name}"); fi
            unset "$name"
        fi
    done
    exec 3< <(printf '%s\0' ${held[@]+"${held[@]}"})
    exec bash --noprofile --norc "${BASH_SOURCE[0]}" grade
}

# Whether the program came to its end with that code: 0, 1, 3, 4 or the one of output.exit_policy.critical_fail. Else it
# was a mistake, a defect or a signal, and what lies where the report should be may be a server's.
came_to_its_end() { (($1 != 2 && $1 != 101 && $1 < 126)); }

grade() {
    local program=$INPUT_PROGRAM directory=$INPUT_WORKING_DIRECTORY command=$INPUT_COMMAND upload=$INPUT_SARIF
    local code=0 report='' sarif='' name line held=() private summary=${GITHUB_STEP_SUMMARY-}
    while IFS= read -r -d '' line <&3; do held+=("$line"); done
    exec 3<&-
    build_arguments
    cd -- "${directory:-.}" 2> /dev/null || mistake "the working directory $directory is not there"
    # What the arguments say is not said twice, and not to the server under test.
    for name in $(compgen -v INPUT_) SEALMARK_{VERSION,BINARY,DOWNLOAD_URL,INSTALL_DIR,CHECKSUMS,VERIFY_ATTESTATION}; do
        unset "$name"
    done
    # Files of the program's own: a server can find the runner's by the environment of a process above it.
    private=$(mktemp -d "${RUNNER_TEMP:-${TMPDIR:-/tmp}}/sealmark.XXXXXXXX") || mistake "no directory could be made in RUNNER_TEMP"

    (
        for line in ${held[@]+"${held[@]}"}; do
            if [[ -n $line ]]; then export "${line?}"; fi
        done
        export GITHUB_OUTPUT=$private/output
        if [[ -n $summary ]]; then export GITHUB_STEP_SUMMARY=$private/summary; fi
        exec "$program" "${arguments[@]}"
    ) || code=$?

    for name in GITHUB_OUTPUT GITHUB_ENV GITHUB_PATH GITHUB_STATE; do anew "${!name-}" < /dev/null; done
    if [[ ! -f $private/summary ]]; then : > "$private/summary"; fi
    anew "$summary" < "$private/summary"
    for name in grade grades regressions drift comment-url badge-eligible; do
        output "$name" "$(written "$name" "$private/output")"
    done
    if came_to_its_end "$code"; then
        report=$(absolute "$(written report "$private/output")")
        sarif=$(absolute "$(written sarif "$private/output")")
    fi
    rm -rf -- "$private"
    if [[ $command == ci && $code == 0 && -z $report ]]; then
        echo "::error title=sealmark::nothing was graded: sealmark passed and wrote no report (is a word like --help among the args?)"
        code=4
    fi
    output exit-code "$code"
    if [[ -n $report ]]; then output report "$report"; fi
    if [[ -n $sarif ]]; then output sarif "$sarif"; fi
    if [[ $command != ci ]]; then return; fi
    if [[ -n $report ]] && on_github; then
        output upload "$(dirname -- "$report")"
    elif [[ -n $report ]]; then
        echo "note: the report was not uploaded: actions/upload-artifact from v4 on works on GitHub.com and GHE.com alone (here, add a step with actions/upload-artifact@v3 and path: ${report%/*})"
    fi
    if [[ -n $sarif && $upload == upload && -z ${GITEA_ACTIONS-} ]]; then
        case $GITHUB_EVENT_NAME in
            # Their commit is on no branch, or not the one that was graded.
            merge_group | workflow_run | pull_request_target) echo "note: SARIF is not uploaded on $GITHUB_EVENT_NAME" ;;
            *) output upload-sarif "$sarif" ;;
        esac
    fi
}

finish() {
    if [[ $INPUT_UPLOADED == failure ]]; then
        echo "::warning title=sealmark::the report artifact was not uploaded (the step above says why); the next run has no baseline of this one"
    fi
    if [[ $INPUT_SARIF_UPLOADED == failure ]]; then
        echo "::warning title=sealmark::SARIF was not uploaded to code scanning (the step above says why): it needs the permission security-events: write and, in a private repository, Code Security; sarif: file writes the file alone"
    fi
    exit "$INPUT_CODE"
}

case ${1-} in
    install | run | grade | finish) "$1" ;;
    *)
        echo "usage: ci/action.sh install|run|grade|finish" >&2
        exit 2
        ;;
esac
