#!/usr/bin/env bash
# The steps of .github/workflows/release.yml.
#
#   ci/release.sh plan      refuses a commit that cannot be released; sets the output `version`
#   ci/release.sh build     builds $TARGET into dist/ and tries it
#   ci/release.sh draft     commits the hashes of dist/ to a branch, drafts the release, gets its files back into draft/
#   ci/release.sh publish   brings $COMMIT to the default branch, publishes the draft, moves the action's tag
# The variables in capitals come from the workflow.
# shellcheck disable=SC2153
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."

REPOSITORY=${GITHUB_REPOSITORY:-sealmark/action}

stop() {
    printf '::error title=release::%s\n' "$1"
    exit 1
}

cargo_version() { sed -n '/^\[package\]/,/^\[dep/s/^version = "\(.*\)"$/\1/p' Cargo.toml; }

# What every release consists of.
assets() {
    printf 'sealmark-%s\n' x86_64-unknown-linux-musl aarch64-unknown-linux-musl aarch64-apple-darwin x86_64-apple-darwin
}

# What CHANGELOG.md says of a version that has a date.
notes() { awk -v wanted="[$1]" '/^## / { on = $2 == wanted && $4 ~ /^[0-9]+-[0-9]+-[0-9]+$/; next } on' CHANGELOG.md; }

# Pushes with the job's token, which no file keeps.
push() {
    git -c "http.$GITHUB_SERVER_URL/.extraheader=AUTHORIZATION: basic $(printf 'x-access-token:%s' "$GH_TOKEN" | base64 -w0)" \
        push --quiet "$@"
}

plan() {
    local version
    version=$(cargo_version)
    [[ $version == "$WANTED" ]] || stop "Cargo.toml says $version"
    [[ $BRANCH == "refs/heads/$DEFAULT_BRANCH" ]] || stop "releases are made from $DEFAULT_BRANCH"
    if git rev-parse --quiet --verify "refs/tags/v$version" > /dev/null; then stop "v$version is released already"; fi
    if grep -q " v$version/" ci/checksums.txt; then stop "the hashes of $version are committed already"; fi
    [[ -n $(notes "$version") ]] || stop "CHANGELOG.md has no section [$version] with a date"
    printf 'version=%s\n' "$version" >> "$GITHUB_OUTPUT"
}

build() {
    rustup target add "$TARGET"
    # ring compiles its C with gcc; rustc brings the musl that it is linked with.
    case $TARGET in *-musl) export "CC_${TARGET//-/_}=gcc" ;; esac
    cargo build --locked --release --target "$TARGET"
    mkdir -p dist
    cp "target/$TARGET/release/sealmark" "dist/sealmark-$TARGET"
    "dist/sealmark-$TARGET" --version
    "dist/sealmark-$TARGET" demo
}

draft() {
    local asset branch=release/v$VERSION commit
    diff <(assets | sort) <(cd dist && printf '%s\n' * | sort) || stop "dist/ does not hold what a release consists of"

    assets | while read -r asset; do
        printf '%s  v%s/%s\n' "$(sha256sum < "dist/$asset" | cut -c1-64)" "$VERSION" "$asset"
    done >> ci/checksums.txt
    # A GitLab component is one file: it holds a copy.
    ci/component.py --write
    git -c user.name='github-actions[bot]' -c user.email='41898282+github-actions[bot]@users.noreply.github.com' \
        commit --quiet --message "Release $VERSION: the hashes of its builds" ci/checksums.txt templates/sealmark.yml
    commit=$(git rev-parse HEAD)
    # A draft of an earlier try is replaced; a release is not.
    push --force origin "HEAD:refs/heads/$branch"
    if [[ $(gh release view "v$VERSION" --repo "$REPOSITORY" --json isDraft --jq .isDraft 2> /dev/null) == true ]]; then
        gh release delete "v$VERSION" --repo "$REPOSITORY" --yes
    fi
    notes "$VERSION" > notes.md
    (cd dist && assets | xargs gh release create "v$VERSION" --repo "$REPOSITORY" --draft --target "$commit" \
        --title "$VERSION" --notes-file ../notes.md)

    mkdir -p "draft/v$VERSION"
    gh release download "v$VERSION" --repo "$REPOSITORY" --dir "draft/v$VERSION"
    (cd draft && grep " v$VERSION/" ../ci/checksums.txt | sha256sum --check --strict) || stop "the draft does not hold what was built"
    printf 'commit=%s\n' "$commit" >> "$GITHUB_OUTPUT"
}

publish() {
    push origin "$COMMIT:refs/heads/$DEFAULT_BRANCH" || stop "$DEFAULT_BRANCH has moved on or is protected from this job: start again from its head"
    gh release edit "v$VERSION" --repo "$REPOSITORY" --draft=false --target "$COMMIT"
    push --force origin "$COMMIT:refs/tags/$ACTION_TAG"
    push --delete origin "release/v$VERSION"
}

case ${1-} in
    plan | build | draft | publish) "$1" ;;
    *)
        echo "usage: ci/release.sh plan|build|draft|publish" >&2
        exit 2
        ;;
esac
