#!/usr/bin/env bash
# What node.sh runs inside the namespaces that it makes: the servers of a cluster with one node. inside.sh FOLDER
set -euo pipefail

state=$1
readonly NODE=node-1 ADDRESS=192.0.2.11 PODS=10.244.0.0/24 SERVICES=10.96.0.0/16 DNS=10.96.0.10
readonly PAUSE_IMAGE=fairlead.test/pause:1
: "${CNI_BIN:=/usr/lib/cni}"

fail() {
  echo "${0##*/}: $*" >&2
  exit 1
}

# wait_for SECONDS WHAT COMMAND...
wait_for() {
  local seconds=$1 what=$2 end
  shift 2
  end=$((SECONDS + seconds))
  until "$@" > /dev/null 2>&1; do
    ((SECONDS < end)) || fail "$what is not there after $seconds s. Next step: read the logs in $state/log"
    sleep 0.2
  done
}

# Starts the server $1 as its file in `run` says, again whenever it ends.
keep_running() {
  local name=$1
  while :; do
    bash "$state/run/$name.sh" >> "$state/log/$name.log" 2>&1 < /dev/null || true
    sleep 0.2
  done &
}

# server NAME COMMAND...
server() {
  local name=$1
  shift
  printf 'echo $$ > %q\nexec %s\n' "$state/run/$name.pid" "${*@Q}" > "$state/run/$name.sh"
  keep_running "$name"
}

mounts() {
  mount --make-rprivate /
  mount -t tmpfs -o mode=755 tmpfs /run
  mount -t tmpfs -o mode=755 tmpfs /var/log
  local folder setting
  for folder in /var/lib/kubelet /var/lib/cni /etc/cni /opt/local-path-provisioner; do
    mkdir -p "$folder" "$state/data$folder"
    mount --bind "$state/data$folder" "$folder"
  done
  mount --make-rshared /
  # The kubelet sets these for the whole machine: here it writes into files instead.
  for setting in vm/overcommit_memory vm/panic_on_oom kernel/panic kernel/panic_on_oops kernel/keys/root_maxkeys \
    kernel/keys/root_maxbytes; do
    cp --no-preserve=mode "/proc/sys/$setting" "$state/run/${setting//\//-}"
    mount --bind "$state/run/${setting//\//-}" "/proc/sys/$setting"
  done
}

network() {
  hostname "$NODE"
  ip link set lo up
  ip link add node0 type bridge # without a port: an address that is not the loopback one
  ip addr add "$ADDRESS/24" dev node0
  ip link set node0 up
  ip route add default dev node0
  sysctl -qw net.ipv4.ip_forward=1
  mkdir -p /etc/cni/net.d
  cat > /etc/cni/net.d/10-test.conflist << EOF
{ "cniVersion": "1.0.0", "name": "test", "plugins": [
  { "type": "ptp", "mtu": 1500,
    "ipam": { "type": "host-local", "ranges": [[{ "subnet": "$PODS" }]], "routes": [{ "dst": "0.0.0.0/0" }] } } ] }
EOF
}

# Layers on layers, where the folder's file system can; else copies.
snapshotter() {
  local trial=$state/run/trial
  mkdir -p "$trial"/{lower,upper,work,merged}
  if mount -t overlay -o "lowerdir=$trial/lower,upperdir=$trial/upper,workdir=$trial/work" none "$trial/merged" 2> /dev/null; then
    umount "$trial/merged"
    echo overlayfs
  else
    echo native
  fi
}

# Without CAP_SYS_RESOURCE runc may not lower the score of a process.
runtime() {
  cat > "$state/containerd.toml" << EOF
version = 3
root = "$state/data/containerd"
state = "/run/containerd"
[grpc]
address = "/run/containerd/containerd.sock"
[plugins.'io.containerd.cri.v1.images']
snapshotter = "$(snapshotter)"
[plugins.'io.containerd.cri.v1.images'.pinned_images]
sandbox = "$PAUSE_IMAGE"
[plugins.'io.containerd.cri.v1.runtime']
restrict_oom_score_adj = true
cdi_spec_dirs = ["/var/run/cdi"]
[plugins.'io.containerd.cri.v1.runtime'.cni]
bin_dirs = ["$CNI_BIN"]
conf_dir = "/etc/cni/net.d"
[plugins.'io.containerd.cri.v1.runtime'.containerd]
default_runtime_name = "runc"
[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc]
runtime_type = "io.containerd.runc.v2"
EOF
  server containerd env PATH="$NODE_PROGRAMS:$PATH" "$NODE_PROGRAMS/containerd" --config "$state/containerd.toml"
}

# Nobody but who is in these namespaces reaches the servers: each signs in with its name as its token.
credentials() {
  [[ ! -e $state/run/tokens.csv ]] || return 0
  openssl genrsa -out "$state/run/service-account.key" 2048 2> /dev/null
  # Whoever has a certificate of these clients signs in with it.
  openssl req -x509 -newkey rsa:2048 -nodes -days 30 -subj /CN=clients -keyout "$state/run/clients.key" \
    -out "$state/run/clients.crt" 2> /dev/null
  local user groups name
  while read -r name user groups; do
    echo "$name,$user,$name,\"$groups\"" >> "$state/run/tokens.csv"
    cat > "$state/run/$name.kubeconfig" << EOF
apiVersion: v1
kind: Config
clusters: [{ name: test, cluster: { server: "https://127.0.0.1:6443", insecure-skip-tls-verify: true } }]
users: [{ name: test, user: { token: $name } }]
contexts: [{ name: test, context: { cluster: test, user: test } }]
current-context: test
EOF
  done << EOF
admin admin system:masters
controller-manager system:kube-controller-manager
scheduler system:kube-scheduler
proxy system:kube-proxy
kubelet system:node:$NODE system:nodes
EOF
}

control_plane() {
  local run=$state/run
  server etcd "$KUBE/etcd" --data-dir="$state/data/etcd" --unsafe-no-fsync \
    --listen-client-urls=http://127.0.0.1:2379 --advertise-client-urls=http://127.0.0.1:2379 \
    --listen-peer-urls=http://127.0.0.1:2380 --log-level=warn
  server kube-apiserver "$KUBE/kube-apiserver" --etcd-servers=http://127.0.0.1:2379 --cert-dir="$run/certificates" \
    --advertise-address="$ADDRESS" --secure-port=6443 --service-cluster-ip-range="$SERVICES" --allow-privileged \
    --authorization-mode=Node,RBAC --enable-admission-plugins=NodeRestriction --token-auth-file="$run/tokens.csv" \
    --client-ca-file="$run/clients.crt" \
    --service-account-issuer=https://kubernetes.default.svc --service-account-key-file="$run/service-account.key" \
    --service-account-signing-key-file="$run/service-account.key" --kubelet-preferred-address-types=InternalIP
  wait_for 120 kube-apiserver kubectl get --raw /readyz
  server api-proxy "$KUBE/kubectl" proxy --unix-socket="$run/api.sock"
  server kube-controller-manager "$KUBE/kube-controller-manager" --kubeconfig="$run/controller-manager.kubeconfig" \
    --use-service-account-credentials --leader-elect=false --root-ca-file="$run/certificates/apiserver.crt" \
    --service-account-private-key-file="$run/service-account.key"
  server kube-scheduler "$KUBE/kube-scheduler" --kubeconfig="$run/scheduler.kubeconfig" --leader-elect=false
}

node() {
  local run=$state/run
  cat > "$state/kubelet.yaml" << EOF
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
failCgroupV1: false
failSwapOn: false
cgroupDriver: cgroupfs
cgroupRoot: $(cat "$run/cgroup")
containerRuntimeEndpoint: unix:///run/containerd/containerd.sock
authentication: { anonymous: { enabled: true }, webhook: { enabled: false } }
authorization: { mode: AlwaysAllow }
clusterDomain: cluster.local
clusterDNS: [$DNS]
resolvConf: ""
evictionHard: { memory.available: 100Mi, nodefs.available: 1%, imagefs.available: 1% }
imageGCHighThresholdPercent: 100
volumePluginDir: $state/data/volume-plugins
nodeStatusUpdateFrequency: 5s
syncFrequency: 10s
crashLoopBackOff: { maxContainerRestartPeriod: 2s }
featureGates: { KubeletInUserNamespace: true, KubeletCrashLoopBackOffMax: true }
EOF
  server kubelet "$KUBE/kubelet" --config="$state/kubelet.yaml" --kubeconfig="$run/kubelet.kubeconfig" \
    --hostname-override="$NODE" --node-ip="$ADDRESS" --root-dir=/var/lib/kubelet
  cat > "$state/proxy.yaml" << EOF
apiVersion: kubeproxy.config.k8s.io/v1alpha1
kind: KubeProxyConfiguration
mode: nftables
hostnameOverride: $NODE
clusterCIDR: 10.244.0.0/16
clientConnection: { kubeconfig: $run/proxy.kubeconfig }
conntrack: { maxPerCore: 0, min: 0, tcpEstablishedTimeout: 0s, tcpCloseWaitTimeout: 0s }
EOF
  server kube-proxy "$KUBE/kube-proxy" --config="$state/proxy.yaml"
}

node_is_ready() { kubectl wait --for=condition=Ready "node/$NODE" --timeout=1s; }

export PATH=$KUBE:$PATH KUBECONFIG=$state/run/admin.kubeconfig
mounts
network
runtime
credentials
control_plane
wait_for 30 containerd "$NODE_PROGRAMS/ctr" version
node
wait_for 60 "the node" node_is_ready
touch "$state/run/ready"
while :; do wait -n || true; done
