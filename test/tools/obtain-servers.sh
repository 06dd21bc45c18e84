#!/usr/bin/env bash
# Obtains all that the tests of `npm run test:servers` and `npm run test:node` talk to, once, in this order: what many tests need comes first, and
# what the tests can do without (FAIRLEAD_TEST_DEADLINE, see go-build.sh) last. Each script of this folder can be run by
# itself too, at the same time: whoever comes second waits. On stdout is a line for each, with what it took, and a last
# one for all.
#
#   obtain-servers.sh             all
#   obtain-servers.sh NAME...     only these (kueue for install-kueue.sh)
#   obtain-servers.sh --missing   makes nothing: prints the names of those that are not there
set -uo pipefail

# What is only downloaded goes beside what is built: it keeps no core busy. Of the latter one at a time: the compiler keeps
# all cores busy by itself, and what two servers share is compiled once only where one comes after the other.
readonly downloaded=(helm workload-crds operator-crds focus-validator)
readonly built=(kube-servers kueue volcano kai dockerfile-lint helm-unittest release-lint otel-collector workload-controllers node thanos mimir)
readonly NO_TIME=75

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
TIMEFORMAT='%0R s (%0U s of processor time)'

missing() {
  local name
  for name in "${downloaded[@]}" "${built[@]}"; do
    FAIRLEAD_TEST_ONLY_ASK=yes bash "$here/install-$name.sh" > /dev/null 2>&1 || echo "$name"
  done
}

if [[ ${1:-} == --missing ]]; then
  missing
  exit
fi

wanted=" ${*:-${downloaded[*]} ${built[*]}} "

obtain() {
  local name status failed=0 took
  for name; do
    [[ $wanted == *" $name "* ]] || continue
    # What `time` prints goes to this function's own; what the script says goes to standard error.
    took=$({ time bash "$here/install-$name.sh" > /dev/null 2>&3; } 2>&1)
    status=$?
    case $status in
      0) echo "$name: $took" ;;
      "$NO_TIME") echo "$name: not there, for lack of time" ;;
      *)
        echo "$name: FAILED after $took; \`bash test/tools/install-$name.sh\` shows why"
        failed=1
        ;;
    esac
  done
  return "$failed"
} 3>&2

obtain "${downloaded[@]}" &
downloads=$!
trap 'kill "$downloads" 2> /dev/null' EXIT
status=0
obtain "${built[@]}" || status=1
wait "$downloads" || status=1
trap - EXIT
echo "all: $SECONDS s"
exit "$status"
