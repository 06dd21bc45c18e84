#!/usr/bin/env bash
# Obtains a real etcd, Kubernetes' real servers and kubectl for the tests: builds them from their Go modules, once, and keeps
# them in a cache folder. Kubernetes' are one program (kube) under five names. The last line on stdout is that folder
# (envtest's layout: etcd, kube-apiserver, kubectl, ...); progress goes to stderr.
#
#   KUBEBUILDER_ASSETS      a folder that holds these three already (setup-envtest makes one): nothing is built
#   FAIRLEAD_TEST_CACHE     where the programs are kept (default: $XDG_CACHE_HOME/fairlead or ~/.cache/fairlead)
set -euo pipefail

readonly KUBERNETES_VERSION=1.37.2
readonly GO_VERSION=1.26.0 # the least that its module accepts

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source-path=SCRIPTDIR source=go-build.sh
. "$here/go-build.sh"

readonly names=(kube-apiserver kube-controller-manager kube-proxy kube-scheduler kubelet kubectl)

holds_servers() { is_program "$1/etcd" && is_program "$1/kube-apiserver" && is_program "$1/kubectl"; }

# The program is built again where its source has changed.
is_complete() { is_program "$1/etcd" && is_program "$1/kube" && cmp -s "$here/kube/main.go" "$1/main.go"; }

# k8s.io/kubernetes names its staging modules at v0.0.0 and replaces them with folders of its repository; each is
# published too, as v0.MINOR.PATCH, which takes the folder's place here.
write_kubernetes_module() {
  local published=v0.${KUBERNETES_VERSION#*.}
  {
    sed -n '/^godebug /p' "$1/go.mod"
    printf 'require k8s.io/kubernetes v%s\n' "$KUBERNETES_VERSION"
    sed -n "s|^[[:space:]]*\(k8s.io/[a-z0-9-]*\) => \./staging/.*|replace \1 => \1 $published|p" "$1/go.mod"
  } | write_module kube
  cp "$here/kube/main.go" "$work/module/kube/"
}

# The module names the etcd that Kubernetes is tested with; kubeadm's constant is the one that it is delivered with.
check_etcd() {
  local delivered
  delivered=$(sed -n 's/^[[:space:]]*DefaultEtcdVersion = "\(.*\)-[0-9]*"$/\1/p' "$1/cmd/kubeadm/app/constants/constants.go")
  grep -q "^[[:space:]]*go.etcd.io/etcd/server/v3 v$delivered\( \|\$\)" "$1/go.mod" ||
    fail "Kubernetes $KUBERNETES_VERSION is delivered with etcd $delivered, and its module names another"
  say "etcd $delivered, which kubeadm $KUBERNETES_VERSION installs"
}

version_flags() {
  local minor=${KUBERNETES_VERSION#*.} package
  for package in k8s.io/component-base/version k8s.io/client-go/pkg/version; do
    printf -- '-X %s.gitVersion=v%s ' "$package" "$KUBERNETES_VERSION"
    printf -- '-X %s.gitMajor=%s -X %s.gitMinor=%s ' "$package" "${KUBERNETES_VERSION%%.*}" "$package" "${minor%%.*}"
  done
}

if [[ -n ${KUBEBUILDER_ASSETS:-} ]] && holds_servers "$KUBEBUILDER_ASSETS"; then finish "$KUBEBUILDER_ASSETS"; fi

open_cache "kube-$KUBERNETES_VERSION" "set KUBEBUILDER_ASSETS to a folder that holds etcd, kube-apiserver and kubectl"
upstream=$(download_module "k8s.io/kubernetes@v$KUBERNETES_VERSION")
check_etcd "$upstream"
write_kubernetes_module "$upstream"
build kube "$(version_flags)" "" kube=fairlead.test/kube etcd=go.etcd.io/etcd/server/v3
for name in "${names[@]}"; do ln -sf kube "$assets/$name"; done
cp "$here/kube/main.go" "$assets/main.go"
say "done"
finish "$assets"
