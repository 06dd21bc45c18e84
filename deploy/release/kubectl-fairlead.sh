#!/bin/sh
# `kubectl fairlead`: krew links to this file; the package is beside the file itself.
set -eu
self=$0
while [ -L "$self" ]; do
  target=$(readlink "$self")
  case $target in
    /*) self=$target ;;
    *) self=$(dirname "$self")/$target ;;
  esac
done
command -v node > /dev/null || {
  echo "fairlead: kubectl fairlead needs Node.js 24 or newer, and there is no node in PATH" >&2
  exit 1
}
exec node --max-semi-space-size=8 "$(dirname "$self")/bin/fairlead.mjs" "$@"
