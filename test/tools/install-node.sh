#!/usr/bin/env bash
# Obtains what a real node has beyond Kubernetes' own servers (install-kube-servers.sh): builds containerd, its shim and ctr,
# CoreDNS, the local-path provisioner, fake GPUs and the first process of a pod from their Go modules, once, and keeps them
# in a cache folder. The last line on stdout is that folder. runc, the CNI plugins, nft and busybox are Debian's.
#
#   FAIRLEAD_TEST_CACHE     where the programs are kept (default: $XDG_CACHE_HOME/fairlead or ~/.cache/fairlead)
set -euo pipefail

readonly KUBERNETES_VERSION=1.37.2 # as in install-kube-servers.sh
readonly CONTAINERD_VERSION=2.4.2
readonly COREDNS_VERSION=1.15.0
readonly LOCAL_PATH_VERSION=0.0.30
readonly GO_VERSION=1.26.6 # the least that containerd accepts
readonly BUILD_SECONDS=180 # tests skip what is not there in time

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source-path=SCRIPTDIR source=go-build.sh
. "$here/go-build.sh"

readonly programs=(containerd containerd-shim-runc-v2 ctr coredns local-path-provisioner fake-gpu pause)

own_sources() { cat "$here/install-node.sh" "$here"/node/{fake-gpu,pause,coredns}/*.go; }

# All are built again where a version or a source has changed.
is_complete() {
  local program
  for program in "${programs[@]}"; do is_program "$1/$program" || return 1; done
  own_sources | cmp -s - "$1/sources"
}

build_containerd() {
  local module=github.com/containerd/containerd/v2
  write_module containerd <<< "require $module v$CONTAINERD_VERSION"
  build containerd "-X $module/version.Version=$CONTAINERD_VERSION" no_btrfs,no_zfs,no_devmapper,no_tracing \
    containerd=$module/cmd/containerd containerd-shim-runc-v2=$module/cmd/containerd-shim-runc-v2 ctr=$module/cmd/ctr
}

build_coredns() {
  write_module coredns <<< "require github.com/coredns/coredns v$COREDNS_VERSION"
  cp "$here/node/coredns/main.go" "$work/module/coredns/"
  build coredns "" "" coredns=fairlead.test/coredns
}

build_local_path() {
  local path=github.com/rancher/local-path-provisioner
  adopt_module local-path $path $LOCAL_PATH_VERSION
  build local-path "-X main.VERSION=v$LOCAL_PATH_VERSION" "" local-path-provisioner=$path
}

# The test driver is part of Kubernetes' own module, with the dependencies that the servers are built with.
build_fake_gpu() {
  local folder published=v0.${KUBERNETES_VERSION#*.}
  folder=$(download_module "k8s.io/kubernetes@v$KUBERNETES_VERSION")
  {
    sed -n '/^godebug /p' "$folder/go.mod"
    printf 'require k8s.io/kubernetes v%s\n' "$KUBERNETES_VERSION"
    sed -n "s|^[[:space:]]*\(k8s.io/[a-z0-9-]*\) => \./staging/.*|replace \1 => \1 $published|p" "$folder/go.mod"
  } | write_module node
  cp -r "$here/node/fake-gpu" "$here/node/pause" "$work/module/node/"
  build node "" "" fake-gpu=fairlead.test/node/fake-gpu pause=fairlead.test/node/pause
}

open_cache "node-$KUBERNETES_VERSION" "leave the tests on a real node aside: they are skipped without it"
build_containerd
build_coredns
build_local_path
build_fake_gpu
own_sources > "$assets/sources"
say "done"
finish "$assets"
