#!/usr/bin/env bash
# Obtains the real Volcano scheduler and controller manager for the tests: builds both from their Go modules, once, and
# keeps them in a cache folder, with their resource definitions (crds) beside them. The last line on stdout is that
# folder; progress goes to stderr.
#
#   VOLCANO_ASSETS          a folder that holds all of this already: nothing is built
#   FAIRLEAD_TEST_CACHE     where it is kept (default: $XDG_CACHE_HOME/fairlead or ~/.cache/fairlead)
set -euo pipefail

readonly VOLCANO_VERSION=1.15.1
readonly APIS_VERSION=1.14.0 # the newest that is published of volcano.sh/apis, which Volcano keeps in its repository
readonly GO_VERSION=1.26.0

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source-path=SCRIPTDIR source=go-build.sh
. "$here/go-build.sh"

is_complete() { is_program "$1/scheduler" && is_program "$1/controller-manager" && [[ -d $1/crds ]]; }

if [[ -n ${VOLCANO_ASSETS:-} ]] && is_complete "$VOLCANO_ASSETS"; then finish "$VOLCANO_ASSETS"; fi

open_cache "volcano-$VOLCANO_VERSION" "set VOLCANO_ASSETS to a folder that holds scheduler, controller-manager and crds"
module=$(download_module "volcano.sh/volcano@v$VOLCANO_VERSION")
apis=$(download_module "volcano.sh/apis@v$APIS_VERSION")

# Volcano replaces volcano.sh/apis with a folder that its module does not carry. The published one takes its place, with
# the one constant that has come since.
cp -r "$apis" "$work/apis"
chmod -R u+w "$work/apis"
printf 'package v1beta1\n\nconst QueueAllocationGateKey = GroupName + "/queue-allocation-gate"\n' \
  > "$work/apis/pkg/apis/scheduling/v1beta1/queue_allocation_gate.go"
{
  printf 'require volcano.sh/volcano v%s\n' "$VOLCANO_VERSION"
  sed -n '/^replace (/,/^)/p' "$module/go.mod" | grep -v 'volcano.sh/apis'
  printf 'replace volcano.sh/apis => %s\n' "$work/apis"
} | write_module volcano
install -m 644 "$module/go.sum" "$work/module/volcano/go.sum"
keep crds "$module"/config/crd/volcano/bases/*.yaml
build volcano "-X volcano.sh/volcano/pkg/version.Version=v$VOLCANO_VERSION" "" \
  scheduler=volcano.sh/volcano/cmd/scheduler controller-manager=volcano.sh/volcano/cmd/controller-manager
say "done"
finish "$assets"
