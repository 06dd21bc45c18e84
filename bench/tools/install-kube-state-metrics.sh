#!/usr/bin/env bash
# Builds kube-state-metrics from its Go module, once, and keeps it in a cache folder. The last line on stdout is the
# path of the program; progress goes to stderr. FAIRLEAD_TEST_CACHE is the cache folder (default: $XDG_CACHE_HOME/fairlead
# or ~/.cache/fairlead).
set -euo pipefail

readonly VERSION=2.20.0

say() { printf 'install-kube-state-metrics: %s\n' "$*" >&2; }

cache=${FAIRLEAD_TEST_CACHE:-${XDG_CACHE_HOME:-${HOME:?}/.cache}/fairlead}
program=$cache/kube-state-metrics-$VERSION/kube-state-metrics
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
printf 'module fairlead.bench/kube-state-metrics\n\ngo 1.26.0\n\nrequire k8s.io/kube-state-metrics/v2 v%s\n' \
  "$VERSION" > "$work/go.mod"
# `go install package@version` would ask for the list of all versions, which not every module proxy has.
printf 'package tools\n\nimport _ "k8s.io/kube-state-metrics/v2/pkg/app"\n' > "$work/tools.go"
say "building kube-state-metrics $VERSION: this takes minutes, and is done once"
(cd "$work" && GOWORK=off GOFLAGS=-mod=mod CGO_ENABLED=0 "$go" build -trimpath -ldflags "-s -w" \
  -o "$work/kube-state-metrics" k8s.io/kube-state-metrics/v2 2> >(grep -v '^go: \(downloading\|finding\)' >&2))
mv "$work/kube-state-metrics" "$program"
say "done"
printf '%s\n' "$program"
