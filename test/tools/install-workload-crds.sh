#!/usr/bin/env bash
# Obtains the real resource definitions of workloads for the tests, out of the Go modules of their projects, and keeps them
# in a cache folder (crds). The last line on stdout is that folder; progress goes to stderr.
#
#   WORKLOAD_CRDS_ASSETS    a folder that holds crds already: nothing is downloaded
#   FAIRLEAD_TEST_CACHE     where they are kept (default: $XDG_CACHE_HOME/fairlead or ~/.cache/fairlead)
set -euo pipefail

# The versions that Kueue 0.19.2 is built with.
readonly JOBSET=sigs.k8s.io/jobset@v0.12.0
readonly LWS=sigs.k8s.io/lws@v0.9.0
readonly TRAINING=github.com/kubeflow/training-operator@v1.9.3
readonly MPI=github.com/kubeflow/mpi-operator@v0.8.2
readonly TRAINER=github.com/kubeflow/trainer/v2@v2.2.1
readonly KUBERAY=github.com/ray-project/kuberay/ray-operator@v1.6.2
readonly GO_VERSION=1.26.0

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source-path=SCRIPTDIR source=go-build.sh
. "$here/go-build.sh"

is_complete() { [[ -f $1/crds/complete ]]; }

if [[ -n ${WORKLOAD_CRDS_ASSETS:-} ]] && is_complete "$WORKLOAD_CRDS_ASSETS"; then finish "$WORKLOAD_CRDS_ASSETS"; fi

open_cache "workload-crds-1" "set WORKLOAD_CRDS_ASSETS to a folder that holds crds (with a file named complete)"
keep crds "$(download_module "$JOBSET")/config/components/crd/bases/jobset.x-k8s.io_jobsets.yaml"
keep crds "$(download_module "$LWS")/config/crd/bases/leaderworkerset.x-k8s.io_leaderworkersets.yaml"
training=$(download_module "$TRAINING")/manifests/base/crds
keep crds "$training/kubeflow.org_"{pytorchjobs,tfjobs,xgboostjobs,paddlejobs,jaxjobs}.yaml
keep crds "$(download_module "$MPI")/manifests/base/kubeflow.org_mpijobs.yaml"
keep crds "$(download_module "$TRAINER")/manifests/base/crds/trainer.kubeflow.org_trainjobs.yaml"
keep crds "$(download_module "$KUBERAY")/config/crd/bases/ray.io_"{rayjobs,rayclusters}.yaml
touch "$assets/crds/complete"
say "done"
finish "$assets"
