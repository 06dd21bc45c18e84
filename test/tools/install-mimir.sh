#!/usr/bin/env bash
# Obtains the real Mimir and its mimirtool for the tests: builds both from their Go module, once, and keeps them in a cache
# folder. The last line on stdout is that folder; progress goes to stderr.
#
#   --if-built              builds nothing: fails where it is not built yet
#   MIMIR_ASSETS            a folder that holds both programs already: nothing is built
#   FAIRLEAD_TEST_CACHE     where they are kept (default: $XDG_CACHE_HOME/fairlead or ~/.cache/fairlead)
set -euo pipefail

# Mimir's releases are tagged mimir-X.Y.Z, which no Go module version can be: a commit of its main branch from after 3.0.
readonly MIMIR_VERSION=1.3.1-0.20260423142704-aced80d74930
readonly MIMIR_MODULE=github.com/grafana/mimir
readonly GO_VERSION=1.26.0

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source-path=SCRIPTDIR source=go-build.sh
. "$here/go-build.sh"

is_complete() { is_program "$1/mimir" && is_program "$1/mimirtool"; }

if [[ -n ${MIMIR_ASSETS:-} ]] && is_complete "$MIMIR_ASSETS"; then finish "$MIMIR_ASSETS"; fi

if [[ ${1:-} == --if-built ]]; then
  assets=${FAIRLEAD_TEST_CACHE:-${XDG_CACHE_HOME:-${HOME:?}/.cache}/fairlead}/mimir-$MIMIR_VERSION
  if is_complete "$assets"; then finish "$assets"; fi
  exit 1
fi

open_cache "mimir-$MIMIR_VERSION" "set MIMIR_ASSETS to a folder that holds mimir and mimirtool"
module=$(download_module "$MIMIR_MODULE@v$MIMIR_VERSION")
{
  printf 'require %s v%s\n' "$MIMIR_MODULE" "$MIMIR_VERSION"
  sed -n '/^replace (/,/^)/p; /^replace [^(]/p' "$module/go.mod"
} | write_module mimir
install -m 644 "$module/go.sum" "$work/module/mimir/go.sum"
for program in mimir mimirtool; do
  is_program "$assets/$program" || build mimir "$MIMIR_MODULE/cmd/$program" "$program" "" netgo,stringlabels
done
say "done"
finish "$assets"
