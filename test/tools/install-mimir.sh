#!/usr/bin/env bash
# Obtains the real Mimir and its mimirtool for the tests: builds both from their Go module, once, and keeps them in a cache
# folder. The last line on stdout is that folder; progress goes to stderr.
#
#   MIMIR_ASSETS            a folder that holds both programs already: nothing is built
#   FAIRLEAD_TEST_CACHE     where they are kept (default: $XDG_CACHE_HOME/fairlead or ~/.cache/fairlead)
set -euo pipefail

# Mimir's releases are tagged mimir-X.Y.Z, which no Go module version can be: a commit of its main branch from after 3.0.
readonly MIMIR_VERSION=1.3.1-0.20260423142704-aced80d74930
readonly MIMIR_MODULE=github.com/grafana/mimir
readonly GO_VERSION=1.26.0
readonly BUILD_SECONDS=300 # a cold one takes no longer; tests can do without

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source-path=SCRIPTDIR source=go-build.sh
. "$here/go-build.sh"

is_complete() { is_program "$1/mimir" && is_program "$1/mimirtool"; }

if [[ -n ${MIMIR_ASSETS:-} ]] && is_complete "$MIMIR_ASSETS"; then finish "$MIMIR_ASSETS"; fi

open_cache "mimir-$MIMIR_VERSION" "set MIMIR_ASSETS to a folder that holds mimir and mimirtool"
adopt_module mimir "$MIMIR_MODULE" "$MIMIR_VERSION"
build mimir "" stringlabels "mimir=$MIMIR_MODULE/cmd/mimir" "mimirtool=$MIMIR_MODULE/cmd/mimirtool"
say "done"
finish "$assets"
