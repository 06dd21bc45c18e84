#!/usr/bin/env bash
# Obtains a real etcd and a real kube-apiserver for the tests: builds both from their Go modules, once, and keeps
# them in a cache folder. The last line on stdout is that folder (envtest's layout: etcd, kube-apiserver); progress
# goes to stderr.
#
#   KUBEBUILDER_ASSETS      a folder that holds both binaries already (setup-envtest makes one): nothing is built
#   FAIRLEAD_TEST_CACHE     where the binaries are kept (default: $XDG_CACHE_HOME/fairlead or ~/.cache/fairlead)
set -euo pipefail

readonly KUBERNETES_VERSION=1.36.3
readonly ETCD_VERSION=3.6.16   # the release line that this Kubernetes ships with
readonly GO_VERSION=1.26.0     # the least that both modules accept

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source-path=SCRIPTDIR source=go-build.sh
. "$here/go-build.sh"

holds_both() { is_program "$1/etcd" && is_program "$1/kube-apiserver"; }

build_etcd() {
  write_module etcd <<< "require go.etcd.io/etcd/server/v3 v$ETCD_VERSION"
  build etcd go.etcd.io/etcd/server/v3 etcd ""
}

# k8s.io/kubernetes names its staging modules at v0.0.0 and replaces them with folders of its repository; each is
# published too, as v0.MINOR.PATCH, which takes the folder's place here.
build_kube_apiserver() {
  local upstream published=v0.${KUBERNETES_VERSION#*.}
  write_module fetch < /dev/null
  upstream=$(go_in fetch mod download -json "k8s.io/kubernetes@v$KUBERNETES_VERSION" |
    sed -n 's/^[[:space:]]*"GoMod": "\(.*\)",\{0,1\}$/\1/p')
  [[ -f $upstream ]] || fail "the module k8s.io/kubernetes v$KUBERNETES_VERSION could not be downloaded"
  {
    sed -n '/^godebug /p' "$upstream"
    printf 'require k8s.io/kubernetes v%s\n' "$KUBERNETES_VERSION"
    sed -n "s|^[[:space:]]*\(k8s.io/[a-z0-9-]*\) => \./staging/.*|replace \1 => \1 $published|p" "$upstream"
  } | write_module kube-apiserver
  build kube-apiserver k8s.io/kubernetes/cmd/kube-apiserver kube-apiserver "$(version_flags)"
}

version_flags() {
  local minor=${KUBERNETES_VERSION#*.} package=k8s.io/component-base/version
  printf -- '-X %s.gitVersion=v%s ' "$package" "$KUBERNETES_VERSION"
  printf -- '-X %s.gitMajor=%s -X %s.gitMinor=%s' "$package" "${KUBERNETES_VERSION%%.*}" "$package" "${minor%%.*}"
}

if [[ -n ${KUBEBUILDER_ASSETS:-} ]] && holds_both "$KUBEBUILDER_ASSETS"; then finish "$KUBEBUILDER_ASSETS"; fi

cache=${FAIRLEAD_TEST_CACHE:-${XDG_CACHE_HOME:-${HOME:?}/.cache}/fairlead}
mkdir -p "$cache"
cache=$(cd "$cache" && pwd)
assets=$cache/kube-$KUBERNETES_VERSION
if holds_both "$assets"; then finish "$assets"; fi

mkdir -p "$assets"
if command -v flock > /dev/null; then # a second run waits for the first rather than building too
  exec 9> "$assets/.lock"
  flock 9
  if holds_both "$assets"; then finish "$assets"; fi
fi

work=$(mktemp -d "$cache/build.XXXXXX")
trap 'rm -rf "$work"' EXIT
go=
find_go "set KUBEBUILDER_ASSETS to a folder that holds etcd and kube-apiserver"
say "Kubernetes $KUBERNETES_VERSION and etcd $ETCD_VERSION with $("$go" env GOVERSION), into $assets"
is_program "$assets/etcd" || build_etcd
is_program "$assets/kube-apiserver" || build_kube_apiserver
say "done"
finish "$assets"
