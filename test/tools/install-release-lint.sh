#!/usr/bin/env bash
# Obtains what checks the files of a release, once, and keeps it in a cache folder: actionlint for workflows of GitHub, and
# krew's own check of a plugin's manifest, both built from their Go modules. The last line on stdout is that folder;
# progress goes to stderr.
#
#   RELEASE_LINT_ASSETS     a folder that holds both already: nothing is built
#   FAIRLEAD_TEST_CACHE     where they are kept (default: $XDG_CACHE_HOME/fairlead or ~/.cache/fairlead)
set -euo pipefail

readonly ACTIONLINT_VERSION=1.7.12
readonly KREW_VERSION=0.4.3
readonly GO_VERSION=1.24.0 # the least that actionlint's module accepts

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source-path=SCRIPTDIR source=go-build.sh
. "$here/go-build.sh"

is_complete() { is_program "$1/actionlint" && is_program "$1/validate-krew-manifest"; }

if [[ -n ${RELEASE_LINT_ASSETS:-} ]] && is_complete "$RELEASE_LINT_ASSETS"; then finish "$RELEASE_LINT_ASSETS"; fi

open_cache "release-lint-$ACTIONLINT_VERSION-$KREW_VERSION" "set RELEASE_LINT_ASSETS to a folder that holds actionlint and validate-krew-manifest"
write_module actionlint <<< "require github.com/rhysd/actionlint v$ACTIONLINT_VERSION"
build actionlint "" "" actionlint=github.com/rhysd/actionlint/cmd/actionlint
write_module krew <<< "require sigs.k8s.io/krew v$KREW_VERSION"
build krew "" "" validate-krew-manifest=sigs.k8s.io/krew/cmd/validate-krew-manifest
say "done"
finish "$assets"
