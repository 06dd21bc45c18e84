#!/usr/bin/env bash
# Obtains the real resource definitions of operators and scheduler plugins that Fairlead meets, out of the Go modules of their
# projects, for the tests, and keeps them in a cache folder: those of the Prometheus operator (prometheus-operator),
# Karpenter's NodePool (karpenter) and the PodGroup of the coscheduling plugin (coscheduling). The last line on stdout is
# that folder; progress goes to stderr.
#
#   OPERATOR_CRDS_ASSETS    a folder that holds them already: nothing is downloaded
#   FAIRLEAD_TEST_CACHE     where they are kept (default: $XDG_CACHE_HOME/fairlead or ~/.cache/fairlead)
set -euo pipefail

readonly PROMETHEUS_OPERATOR=github.com/prometheus-operator/prometheus-operator@v0.85.0
readonly KARPENTER=sigs.k8s.io/karpenter@v1.14.0
readonly SCHEDULER_PLUGINS=sigs.k8s.io/scheduler-plugins@v0.34.7
readonly GO_VERSION=1.26.5 # the least that the modules accept

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source-path=SCRIPTDIR source=go-build.sh
. "$here/go-build.sh"

is_complete() { [[ -f $1/complete ]]; }

if [[ -n ${OPERATOR_CRDS_ASSETS:-} ]] && is_complete "$OPERATOR_CRDS_ASSETS"; then finish "$OPERATOR_CRDS_ASSETS"; fi

open_cache "operator-crds-2" "set OPERATOR_CRDS_ASSETS to a folder that holds them (with a file named complete)"
keep prometheus-operator "$(download_module "$PROMETHEUS_OPERATOR")"/example/prometheus-operator-crd/monitoring.coreos.com_*.yaml
keep karpenter "$(download_module "$KARPENTER")/pkg/apis/crds/karpenter.sh_nodepools.yaml"
keep coscheduling "$(download_module "$SCHEDULER_PLUGINS")/config/crd/bases/scheduling.x-k8s.io_podgroups.yaml"
touch "$assets/complete"
say "done"
finish "$assets"
