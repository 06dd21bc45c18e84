#!/usr/bin/env bash
# Obtains the real KAI Scheduler for the tests: builds its programs from their Go module, once, and keeps them in a cache
# folder, with their resource definitions (crds) and priority classes (priorityclasses) beside them. The last line on
# stdout is that folder; progress goes to stderr.
#
#   KAI_ASSETS              a folder that holds all of this already: nothing is built
#   FAIRLEAD_TEST_CACHE     where it is kept (default: $XDG_CACHE_HOME/fairlead or ~/.cache/fairlead)
set -euo pipefail

readonly KAI_VERSION=0.12.0 # the newest that the module proxy was found to serve
readonly KAI_MODULE=github.com/NVIDIA/KAI-scheduler
readonly GO_VERSION=1.26.0

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source-path=SCRIPTDIR source=go-build.sh
. "$here/go-build.sh"

readonly programs=(scheduler podgrouper podgroupcontroller queuecontroller binder fairshare-simulator)

is_complete() {
  local program
  for program in "${programs[@]}"; do is_program "$1/$program" || return 1; done
  [[ -d $1/crds && -d $1/priorityclasses ]]
}

if [[ -n ${KAI_ASSETS:-} ]] && is_complete "$KAI_ASSETS"; then finish "$KAI_ASSETS"; fi

open_cache "kai-$KAI_VERSION" "set KAI_ASSETS to a folder that holds ${programs[*]}, crds and priorityclasses"
adopt_module kai "$KAI_MODULE" "$KAI_VERSION"
keep crds "$module"/deployments/kai-scheduler/crds/*.yaml
keep priorityclasses "$module"/deployments/kai-scheduler/templates/priorityclasses/*.yaml

targets=()
for program in "${programs[@]}"; do targets+=("$program=$KAI_MODULE/cmd/$program"); done
build kai "" "" "${targets[@]}"
say "done"
finish "$assets"
