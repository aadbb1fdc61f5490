#!/bin/sh
# Installs sealmark: finds the build for this machine, downloads it, verifies it and prints its path, alone, on standard
# output. Everything else goes to standard error. Needs sh, curl or wget, and sha256sum, shasum or openssl.
#
#   ci/install.sh
#   curl -fsSL https://raw.githubusercontent.com/sealmark/action/v1/ci/install.sh | SEALMARK_INSTALL_DIR="$HOME/.local/bin" sh
#
#   SEALMARK_VERSION             the version [default: the newest that the checksums know]
#   SEALMARK_INSTALL_DIR         where the program goes [default: the runner's tool cache, else the user's cache]
#   SEALMARK_DOWNLOAD_URL        a mirror: the part of the address before /v1.2.3/sealmark-TARGET; https://, file://, or
#                                http:// on this machine
#   SEALMARK_CHECKSUMS           a checksums.txt to trust [default: the one beside this script; when the script is piped,
#                                the one of the release]
#   SEALMARK_BINARY              use this build and download nothing
#   SEALMARK_VERIFY_ATTESTATION  true: also ask `gh` who built the file
#
# What is not in the checksums is not installed. A file from the cache is verified like a download.
set -eu

REPOSITORY=sealmark/action
MAX_BYTES=100000000

say() { printf 'sealmark install: %s\n' "$*" >&2; }
# What happened, then what to do.
stop() {
    printf 'sealmark install: error: %s\n' "$1" >&2
    printf 'sealmark install: help: %s\n' "$2" >&2
    exit 1
}
has() { command -v "$1" > /dev/null 2>&1; }

# Without the name and password that a mirror's address may hold.
shown() { printf '%s' "$1" | sed 's|^\([a-z]*://\)[^/]*@|\1|'; }

# The name of the build for this machine. On a runner, what the runner says: the shell may be emulated.
platform() {
    os=${RUNNER_OS:-$(uname -s)}
    arch=${RUNNER_ARCH:-$(uname -m)}
    case $arch in
        X64 | x86_64 | amd64) arch=x86_64 ;;
        ARM64 | arm64 | aarch64) arch=aarch64 ;;
        *) stop "there is no build for $os on $arch" "builds exist for x86-64 and 64-bit Arm; build from source with \`cargo install sealmark\` and give its path as SEALMARK_BINARY" ;;
    esac
    case $os in
        Linux) system=unknown-linux-musl ;;
        macOS | Darwin)
            system=apple-darwin
            # A translated shell says x86_64 on an Arm machine.
            if [ -z "${RUNNER_ARCH:-}" ] && [ "$(sysctl -n hw.optional.arm64 2> /dev/null)" = 1 ]; then arch=aarch64; fi
            ;;
        *) stop "there is no build for $os: sealmark needs the process groups and signals of a Unix" "run it on Linux or macOS; on Windows, in WSL" ;;
    esac
    target=$arch-$system
}

sha256() {
    if has sha256sum; then
        sha256sum < "$1"
    elif has shasum; then
        shasum -a 256 < "$1"
    else
        openssl dgst -sha256 -r < "$1"
    fi | cut -c1-64
}

# download ADDRESS FILE
download() {
    case $1 in
        file://*)
            from=${1#file://}
            cp -- "$from" "$2" 2> /dev/null
            return
            ;;
        https://*) secure=yes ;;
        http://*@*) stop "$(shown "$1") would send a password in the clear" "give SEALMARK_DOWNLOAD_URL as https://HOST/PATH" ;;
        http://127.0.0.1[:/]* | http://localhost[:/]* | "http://[::1]"[:/]*) secure= ;;
        *) stop "$(shown "$1") is neither https:// nor file://" "give SEALMARK_DOWNLOAD_URL as https://HOST/PATH or file:///PATH" ;;
    esac
    if has curl; then
        curl --globoff --proto "=http${secure:+s}" --proto-redir =https --tlsv1.2 --location --max-redirs 5 --fail --silent --show-error \
            --retry 3 --connect-timeout 20 --max-time 600 --max-filesize "$MAX_BYTES" --output "$2" -- "$1" >&2
    elif has wget; then
        # BusyBox' wget knows none of these.
        if wget --help 2>&1 | grep -q -e --https-only; then
            wget ${secure:+--https-only} --no-verbose --tries=3 --timeout=20 --max-redirect=5 -O "$2" -- "$1" >&2
        else
            wget -q -T 20 -O "$2" -- "$1" >&2
        fi
    else
        stop "neither curl nor wget is here" "install one of them, or give the path of a build as SEALMARK_BINARY"
    fi
}

# Sets `checksums` to a file.
find_checksums() {
    checksums=${SEALMARK_CHECKSUMS:-}
    if [ -z "$checksums" ]; then
        case $0 in
            */install.sh | install.sh) checksums=$(dirname -- "$0")/checksums.txt ;;
        esac
    fi
    if [ -z "$checksums" ]; then
        # Piped: it comes from where this script came from.
        reference=v${version:-1}
        checksums=$scratch/checksums.txt
        download "https://raw.githubusercontent.com/$REPOSITORY/$reference/ci/checksums.txt" "$checksums" \
            || stop "the checksums of $reference could not be downloaded" "see whether that release exists: https://github.com/$REPOSITORY/releases"
    fi
    [ -r "$checksums" ] || stop "$checksums cannot be read" "check out the whole repository, or set SEALMARK_CHECKSUMS"
}

# Sets `version`, where it is not given, and `expected`.
find_expected() {
    newest=
    known=
    expected=
    while read -r hash path _; do
        case $hash in '' | '#'*) continue ;; esac
        released=${path%%/*}
        released=${released#v}
        if [ "$released" != "$newest" ]; then known="$known $released"; fi
        newest=$released
    done < "$checksums"
    version=${version:-$newest}
    [ -n "$version" ] || stop "no release is known yet: $checksums lists none" "build from source (\`cargo build --release\`) and give the path as the \`binary\` input or as SEALMARK_BINARY"
    while read -r hash path _; do
        if [ "$path" = "v$version/sealmark-$target" ]; then expected=$hash; fi
    done < "$checksums"
    case " $known " in
        *" $version "*) ;;
        *) stop "version $version is not in the checksums" "known:${known:- none}; use one of them, or a release of the action that knows $version (the action's tag and the program's version are the same)" ;;
    esac
    [ -n "$expected" ] || stop "version $version has no build for $target" "use another version, or build from source and give the path as SEALMARK_BINARY"
    case $expected in *[!0-9a-f]*) expected= ;; esac
    [ ${#expected} -eq 64 ] || stop "the line of v$version/sealmark-$target in $checksums is no SHA-256" "restore the file from the repository"
}

# Sets `home`: the directory of the program.
find_home() {
    if [ -n "${SEALMARK_INSTALL_DIR:-}" ]; then
        home=$SEALMARK_INSTALL_DIR
    elif [ -n "${RUNNER_TOOL_CACHE:-}" ]; then
        home=$RUNNER_TOOL_CACHE/sealmark/$version/$target
    elif [ -n "${XDG_CACHE_HOME:-}${HOME:-}" ]; then
        home=${XDG_CACHE_HOME:-$HOME/.cache}/sealmark/$version/$target
    else
        stop "there is no place to install to: RUNNER_TOOL_CACHE, XDG_CACHE_HOME and HOME are unset" "set SEALMARK_INSTALL_DIR"
    fi
    mkdir -p -- "$home" 2> /dev/null || stop "$home cannot be made" "set SEALMARK_INSTALL_DIR to a directory that can be written"
    home=$(CDPATH='' cd -- "$home" && pwd)
}

# The file runs here and is what it should be.
check_runs() {
    said=$("$1" --version 2> /dev/null) || said=
    case "$said " in
        "sealmark ${2:+$2 }"*) ;;
        *) stop "$1 does not run here as sealmark${2:+ $2}" "$3" ;;
    esac
}

check_attestation() {
    [ "${SEALMARK_VERIFY_ATTESTATION:-}" = true ] || return 0
    has gh || stop "the attestation cannot be verified: gh is not installed" "install the GitHub CLI, or leave verify-attestation off (the SHA-256 is verified either way)"
    gh attestation verify "$1" --repo "$REPOSITORY" --signer-workflow "$REPOSITORY/.github/workflows/release.yml" >&2 \
        || stop "$1 has no valid attestation of $REPOSITORY" "see what gh said above; it needs GH_TOKEN, and api.github.com within reach"
}

main() {
    version=${SEALMARK_VERSION:-}
    version=${version#v}
    scratch=
    trap 'rm -rf ${scratch:+"$scratch"}' EXIT
    trap 'exit 129' HUP
    trap 'exit 130' INT
    trap 'exit 143' TERM

    if [ -n "${SEALMARK_BINARY:-}" ]; then
        [ -f "$SEALMARK_BINARY" ] || stop "$SEALMARK_BINARY is not a file" "give the path of a sealmark program as the \`binary\` input or as SEALMARK_BINARY"
        place=$(CDPATH='' cd -- "$(dirname -- "$SEALMARK_BINARY")" && pwd)/$(basename -- "$SEALMARK_BINARY")
        check_runs "$place" "" "build it for this machine, and make it executable"
        say "using $place ($said), as asked"
        printf '%s\n' "$place"
        return
    fi

    if [ -n "$version" ]; then
        case $version in *[!0-9A-Za-z.-]*) valid= ;; *) valid=yes ;; esac
        printf '%s\n' "$version" | grep -Eqx '[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z][0-9A-Za-z.-]*)?' || valid=
        [ -n "$valid" ] || stop "the version is not of the form 1.2.3" "give a full version, or none for the newest"
    fi
    has sha256sum || has shasum || has openssl || stop "there is nothing here to compute a SHA-256 with" "install sha256sum (coreutils), shasum or openssl"
    platform
    scratch=$(mktemp -d "${RUNNER_TEMP:-${TMPDIR:-/tmp}}/sealmark.XXXXXXXX")
    find_checksums
    find_expected
    find_home
    place=$home/sealmark

    if [ -f "$place" ] && [ "$(sha256 "$place")" = "$expected" ]; then
        say "sealmark $version is here already, and verified"
    else
        if [ -f "$place" ]; then say "what is in $place is another file than sealmark $version: replacing it"; fi
        rm -rf "$scratch"
        # In the place itself, so that the last step is a rename.
        scratch=$(mktemp -d "$home/.sealmark.XXXXXXXX") || stop "$home cannot be written" "set SEALMARK_INSTALL_DIR to a directory that can be written"
        base=${SEALMARK_DOWNLOAD_URL:-https://github.com/$REPOSITORY/releases/download}
        address=${base%/}/v$version/sealmark-$target
        say "downloading $(shown "$address")"
        download "$address" "$scratch/sealmark" \
            || stop "$(shown "$address") could not be downloaded" "see what was said above; behind a proxy set https_proxy, without a way to GitHub set download-url (SEALMARK_DOWNLOAD_URL) to a mirror"
        found=$(sha256 "$scratch/sealmark")
        [ "$found" = "$expected" ] || stop "$(shown "$address") is not the released file: its SHA-256 is $found, expected $expected" "do not use it; the download was cut short or the file was replaced: try again, and tell the owner of the mirror"
        chmod 755 "$scratch/sealmark"
        mv -f -- "$scratch/sealmark" "$place" 2> /dev/null \
            || stop "$place cannot be written" "set SEALMARK_INSTALL_DIR to a directory that can be written"
        say "sealmark $version is installed and verified: $place"
    fi
    check_attestation "$place"
    check_runs "$place" "$version" "see whether its directory allows programs to run (noexec), or set SEALMARK_INSTALL_DIR"
    printf '%s\n' "$place"
}

# Last, so that a script that was cut short does nothing.
main
