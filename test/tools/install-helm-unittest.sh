#!/usr/bin/env bash
# Obtains the real helm-unittest for the tests: builds it from its Go module, once, and keeps it in a cache folder. It runs
# without helm: `untt CHART...`. The last line on stdout is that folder; progress goes to stderr.
#
#   HELM_UNITTEST_ASSETS    a folder that holds untt already: nothing is built
#   FAIRLEAD_TEST_CACHE     where it is kept (default: $XDG_CACHE_HOME/fairlead or ~/.cache/fairlead)
set -euo pipefail

readonly UNITTEST_VERSION=1.1.2
readonly UNITTEST_MODULE=github.com/helm-unittest/helm-unittest
readonly GO_VERSION=1.26.0 # the least that the module accepts

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source-path=SCRIPTDIR source=go-build.sh
. "$here/go-build.sh"

is_complete() { is_program "$1/untt"; }

if [[ -n ${HELM_UNITTEST_ASSETS:-} ]] && is_complete "$HELM_UNITTEST_ASSETS"; then finish "$HELM_UNITTEST_ASSETS"; fi

open_cache "helm-unittest-$UNITTEST_VERSION" "set HELM_UNITTEST_ASSETS to a folder that holds untt"
adopt_module helm-unittest "$UNITTEST_MODULE" "$UNITTEST_VERSION"
build helm-unittest "" "" "untt=$UNITTEST_MODULE/cmd/helm-unittest"
say "done"
finish "$assets"
