#!/usr/bin/env bash
# A whole Kubernetes cluster of one real node, for tests: etcd, Kubernetes' servers, kubelet and containerd, in mount,
# network, process and host-name namespaces of their own. Nothing of it is reached from outside, or reaches out, and all of
# it ends with its first process.
#
#   node.sh start FOLDER              starts it, and returns when the node is ready; after `stop` it goes on with what the
#                                     folder holds, as a machine does that lost its power
#   node.sh exec FOLDER COMMAND...    runs a command inside, as root, with KUBECONFIG set, in the same working directory
#   node.sh load FOLDER ARCHIVE...    gives images (OCI archives) to the container runtime
#   node.sh restart FOLDER SERVER     kills one of the servers (kubelet, containerd, kube-apiserver ...), and starts it again
#   node.sh stop FOLDER               kills all of it
#
# Environment: KUBE (the folder that install-kube-servers.sh prints), NODE_PROGRAMS (that of install-node.sh), and OWNER, the
# process without which it ends, too. Needs root, runc, nft, iproute2, openssl and the CNI plugins.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
fail() {
  echo "${0##*/}: $*" >&2
  exit 1
}

# A group of its own below the root of each controller, whose name no other node has.
make_cgroup() {
  local name controller file
  name=/fairlead-node-$(basename "$state")-$$
  echo "$name" > "$state/run/cgroup"
  if [[ -f /sys/fs/cgroup/cgroup.controllers ]]; then
    for controller in cpu cpuset memory pids; do echo "+$controller" > /sys/fs/cgroup/cgroup.subtree_control; done
    mkdir "/sys/fs/cgroup$name"
    echo 1000 > "/sys/fs/cgroup$name/cpu.weight"
    return
  fi
  for controller in /sys/fs/cgroup/*/; do
    [[ ! -f $controller/cgroup.procs ]] || mkdir -p "$controller$name"
  done
  echo 10240 > "/sys/fs/cgroup/cpu$name/cpu.shares" # all pods together: else they have as much as one process of the machine
  for file in cpuset.cpus cpuset.mems; do cat "/sys/fs/cgroup/cpuset/$file" > "/sys/fs/cgroup/cpuset$name/$file"; done
}

remove_cgroup() {
  local name folder
  name=$(cat "$state/run/cgroup")
  for folder in "/sys/fs/cgroup$name" /sys/fs/cgroup/*"$name"; do
    [[ ! -d $folder ]] || find "$folder" -depth -type d -exec rmdir {} + 2> /dev/null || true
  done
}

start() {
  mkdir -p "$state"/{log,run,data}
  rm -f "$state/run/ready"
  make_cgroup
  setsid unshare --fork --kill-child --pid --mount-proc --mount --net --uts --ipc \
    bash "$here/inside.sh" "$state" > "$state/log/node.log" 2>&1 < /dev/null &
  local pid=$! end=$((SECONDS + 240))
  echo "$pid" > "$state/run/unshare.pid"
  if [[ -n ${OWNER:-} ]]; then guard "$pid" > /dev/null 2>&1 < /dev/null & fi
  until [[ -e $state/run/ready ]]; do
    kill -0 "$pid" 2> /dev/null || fail "the node ended: $(tail -n 5 "$state/log/node.log")"
    ((SECONDS < end)) || fail "the node is not ready in time. Next step: read the logs in $state/log"
    sleep 0.2
  done
}

# Ends the node when whoever started it (OWNER) has died without doing so.
guard() {
  while kill -0 "$1"; do
    kill -0 "$OWNER" || kill -KILL "$1"
    sleep 1
  done
  kill -0 "$OWNER" || remove_cgroup
}

first_process() { pgrep --parent "$(cat "$state/run/unshare.pid")" | head -n 1; }

enter() {
  PATH=$KUBE:$PATH KUBECONFIG=$state/run/admin.kubeconfig \
    nsenter --target "$(first_process)" --mount --net --pid --uts --ipc --wdns="$PWD" "$@"
}

load() {
  local archive
  for archive; do enter "$NODE_PROGRAMS/ctr" --namespace k8s.io images import --local "$archive" > /dev/null; done
}

# The first process of the namespace goes with its parent, and with it all others.
stop() {
  local pid
  pid=$(cat "$state/run/unshare.pid" 2> /dev/null) || return 0
  kill -KILL "$pid" 2> /dev/null || true
  while kill -0 "$pid" 2> /dev/null; do sleep 0.1; done
  sleep 0.5
  remove_cgroup
}

command=${1:?start, exec, load, restart or stop}
state=${2:?a folder}
mkdir -p "$state"
state=$(cd "$state" && pwd)
shift 2
case $command in
  start) start ;;
  exec) enter "$@" ;;
  load) load "$@" ;;
  restart) enter bash -c 'kill -KILL "$(cat "$0")"' "$state/run/$1.pid" ;;
  stop) stop ;;
  *) fail "$command: start, exec, load, restart or stop is expected" ;;
esac
