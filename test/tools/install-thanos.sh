#!/usr/bin/env bash
# Obtains the real Thanos for the tests: builds it from its Go module, once, and keeps it in a cache folder. The last line on
# stdout is that folder; progress goes to stderr.
#
#   THANOS_ASSETS           a folder that holds the program already: nothing is built
#   FAIRLEAD_TEST_CACHE     where it is kept (default: $XDG_CACHE_HOME/fairlead or ~/.cache/fairlead)
set -euo pipefail

readonly THANOS_VERSION=0.42.4
readonly THANOS_MODULE=github.com/thanos-io/thanos
readonly GO_VERSION=1.26.0
readonly BUILD_SECONDS=180 # a cold one takes no longer; tests can do without

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source-path=SCRIPTDIR source=go-build.sh
. "$here/go-build.sh"

is_complete() { is_program "$1/thanos"; }

if [[ -n ${THANOS_ASSETS:-} ]] && is_complete "$THANOS_ASSETS"; then finish "$THANOS_ASSETS"; fi

open_cache "thanos-$THANOS_VERSION" "set THANOS_ASSETS to a folder that holds thanos"
adopt_module thanos "$THANOS_MODULE" "$THANOS_VERSION"
# Without the tag slicelabels it is built, and panics: Thanos reads labels as Prometheus kept them before.
build thanos "-X github.com/prometheus/common/version.Version=$THANOS_VERSION" slicelabels "thanos=$THANOS_MODULE/cmd/thanos"
say "done"
finish "$assets"
