#!/usr/bin/env bash
# Obtains the real controllers of LeaderWorkerSet and JobSet for the tests: builds them from their Go modules, once, and keeps
# them in a cache folder, each with its resource definitions (lws-crds, jobset-crds) and webhook configurations (lws-webhooks,
# jobset-webhooks) beside it. The last line on stdout is that folder; progress goes to stderr.
#
#   WORKLOAD_CONTROLLERS_ASSETS   a folder that holds all of this already: nothing is built
#   FAIRLEAD_TEST_CACHE           where it is kept (default: $XDG_CACHE_HOME/fairlead or ~/.cache/fairlead)
set -euo pipefail

readonly JOBSET_VERSION=0.12.0 # as in install-workload-crds.sh
readonly LWS_VERSION=0.9.0     # as in install-workload-crds.sh
readonly GO_VERSION=1.26.0     # the least that the modules accept
readonly BUILD_SECONDS=120     # tests skip what is not there in time

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source-path=SCRIPTDIR source=go-build.sh
. "$here/go-build.sh"

is_complete() {
  is_program "$1/lws" && is_program "$1/jobset" && [[ -d $1/lws-crds && -d $1/jobset-crds ]] &&
    [[ -f $1/lws-webhooks/manifests.yaml && -f $1/jobset-webhooks/manifests.yaml ]]
}

if [[ -n ${WORKLOAD_CONTROLLERS_ASSETS:-} ]] && is_complete "$WORKLOAD_CONTROLLERS_ASSETS"; then
  finish "$WORKLOAD_CONTROLLERS_ASSETS"
fi

open_cache "workload-controllers-$LWS_VERSION-$JOBSET_VERSION" "leave the tests of gangs of LeaderWorkerSets and JobSets aside: they are skipped without it"
adopt_module lws sigs.k8s.io/lws "$LWS_VERSION"
keep lws-crds "$module"/config/crd/bases/*.yaml
keep lws-webhooks "$module/config/webhook/manifests.yaml"
build lws "" "" lws=sigs.k8s.io/lws/cmd
adopt_module jobset sigs.k8s.io/jobset "$JOBSET_VERSION"
keep jobset-crds "$module"/config/components/crd/bases/*.yaml
keep jobset-webhooks "$module/config/components/webhook/manifests.yaml"
build jobset "" "" jobset=sigs.k8s.io/jobset
say "done"
finish "$assets"
