#!/usr/bin/env bash
# Obtains the FinOps Foundation's validator of FOCUS data sets for the tests: its Python package and those it imports, once,
# kept in a cache folder. The last line on stdout is that folder; run it there as
# `PYTHONPATH=. python3 -m focus_validator.main`, for it finds some of its files from the working directory.
#
#   FOCUS_VALIDATOR_ASSETS  a folder that holds it already: nothing is installed
#   FAIRLEAD_TEST_CACHE     where it is kept (default: $XDG_CACHE_HOME/fairlead or ~/.cache/fairlead)
set -euo pipefail

readonly VALIDATOR_VERSION=2.0.1 # brings the rules of FOCUS 1.2
# What it imports, within the bounds that it gives; it names more packages than it uses.
readonly IMPORTED=(
  'duckdb>=1.4.1,<2' 'graphviz>=0.21,<1' 'pandas>=2,<3' 'polars>=1.34,<2' 'pyarrow<22' 'pydantic>=2.12,<3' 'pytz' 'pyyaml>=6,<7'
  'requests' 'sqlglot>=27.28.1,<28' 'tabulate'
)

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source-path=SCRIPTDIR source=go-build.sh
. "$here/go-build.sh"

is_complete() { [[ -f $1/focus_validator/rules/model-1.2.json && -f $1/.complete ]]; }

if [[ -n ${FOCUS_VALIDATOR_ASSETS:-} ]]; then finish "$FOCUS_VALIDATOR_ASSETS"; fi

open_folder "focus-validator-$VALIDATOR_VERSION"
find_pip || fail "python3 has no pip: install it, then run this script again"
export PIP_BREAK_SYSTEM_PACKAGES=1 PIP_ROOT_USER_ACTION=ignore PIP_DISABLE_PIP_VERSION_CHECK=1
say "installing focus-validator $VALIDATOR_VERSION and what it imports into $assets: this takes a minute, and is done once"
failed="its packages could not be downloaded. Next step: check pip's network settings, then run this again"
# It asks for Python 3.12, and runs on 3.11 as well.
python3 -m pip install --quiet --upgrade --target "$assets" --no-deps --ignore-requires-python \
  "focus-validator==$VALIDATOR_VERSION" >&2 || fail "$failed"
python3 -m pip install --quiet --upgrade --no-warn-conflicts --target "$assets" --only-binary=:all: "${IMPORTED[@]}" >&2 ||
  fail "$failed"
touch "$assets/.complete"
finish "$assets"
