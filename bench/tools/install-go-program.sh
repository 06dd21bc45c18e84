#!/usr/bin/env bash
# Builds a contender of the bench from its Go module, once, and keeps it in a cache folder. The last line on stdout is the path
# of the program; progress goes to stderr. FAIRLEAD_TEST_CACHE is the cache folder (default: $XDG_CACHE_HOME/fairlead or
# ~/.cache/fairlead).
#
#   install-go-program.sh kube-state-metrics | prometheus
set -euo pipefail

name=${1:-}
tags=
case $name in
  kube-state-metrics)
    module=k8s.io/kube-state-metrics/v2 version=2.20.0 package=k8s.io/kube-state-metrics/v2 imported=$module/pkg/app
    ;;
  prometheus) # 3.16.0; its targets are listed in its configuration, so that no service discovery is built in
    module=github.com/prometheus/prometheus version=0.316.0 package=$module/cmd/prometheus imported=$module/promql
    tags=remove_all_sd
    ;;
  *)
    printf 'install-go-program: %s is not known; name kube-state-metrics or prometheus\n' "${name:-no name}" >&2
    exit 2
    ;;
esac

say() { printf 'install-go-program: %s\n' "$*" >&2; }

cache=${FAIRLEAD_TEST_CACHE:-${XDG_CACHE_HOME:-${HOME:?}/.cache}/fairlead}
program=$cache/$name-$version/$name
if [[ -x $program ]]; then
  printf '%s\n' "$program"
  exit 0
fi

go=go
for candidate in go "$cache"/go-*/go/bin/go /usr/local/go/bin/go; do
  if command -v "$candidate" > /dev/null; then
    go=$candidate
    break
  fi
done
command -v "$go" > /dev/null || {
  say "no go command was found; install Go 1.26 or newer, then run this script again"
  exit 1
}

mkdir -p "$(dirname "$program")"
work=$(mktemp -d "$cache/build.XXXXXX")
trap 'rm -rf "$work"' EXIT
printf 'module fairlead.bench/%s\n\ngo 1.26.0\n\nrequire %s v%s\n' "$name" "$module" "$version" > "$work/go.mod"
# `go install package@version` would ask for the list of all versions, which not every module proxy has.
printf 'package tools\n\nimport _ "%s"\n' "$imported" > "$work/tools.go"
say "building $name $version: this takes minutes, and is done once"
(cd "$work" && GOWORK=off GOFLAGS=-mod=mod CGO_ENABLED=0 "$go" build -trimpath -tags "$tags" -ldflags "-s -w" \
  -o "$work/program" "$package" 2> >(grep -v '^go: \(downloading\|finding\)' >&2))
mv "$work/program" "$program"
say "done"
printf '%s\n' "$program"
