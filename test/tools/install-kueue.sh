#!/usr/bin/env bash
# Obtains the real Kueue controller for the tests: builds it from its Go module, once, and keeps it in a cache folder,
# with its resource definitions (crds) and its webhook configurations (webhooks) beside it. The last line on stdout is
# that folder; progress goes to stderr.
#
#   KUEUE_ASSETS            a folder that holds all of this already: nothing is built
#   FAIRLEAD_TEST_CACHE     where it is kept (default: $XDG_CACHE_HOME/fairlead or ~/.cache/fairlead)
set -euo pipefail

readonly KUEUE_VERSION=0.19.2
readonly GO_VERSION=1.26.0 # the least that the module accepts

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source-path=SCRIPTDIR source=go-build.sh
. "$here/go-build.sh"

is_complete() { is_program "$1/kueue" && [[ -f $1/webhooks/manifests.yaml && -d $1/crds ]]; }

if [[ -n ${KUEUE_ASSETS:-} ]] && is_complete "$KUEUE_ASSETS"; then finish "$KUEUE_ASSETS"; fi

open_cache "kueue-$KUEUE_VERSION" "set KUEUE_ASSETS to a folder that holds kueue, crds and webhooks"
adopt_module kueue sigs.k8s.io/kueue "$KUEUE_VERSION"
keep crds "$module"/config/components/crd/bases/*.yaml
keep webhooks "$module/config/components/webhook/manifests.yaml"
build kueue "-X sigs.k8s.io/kueue/pkg/version.GitVersion=v$KUEUE_VERSION" "" kueue=sigs.k8s.io/kueue/cmd/kueue
say "done"
finish "$assets"
