import { isoTime } from "../../exporter/kernel/isoTime.ts";
import type { ClusterState, ObjectKind } from "../../exporter/model/cluster.ts";
import type { DeviceReading } from "../../exporter/model/telemetry.ts";
import { allocated, claim, claimant, jobLimits, namespace, now, owner, ownerRef, sliceGpu } from "./clusterBuilder.ts";
import { queueChanges } from "./queues/queueChanges.ts";

/** One change of a state; `pick` chooses among the things that there are. What does not change stays the same object. */
export type Change = (state: ClusterState, pick: number, round: number) => ClusterState;

function replaceOne<Item>(list: readonly Item[], pick: number, change: (item: Item) => Item): readonly Item[] {
  return list.map((item, i) => (i === pick % list.length ? change(item) : item));
}

function ofNode(change: (node: ClusterState["nodes"][number], round: number) => object): Change {
  return (state, pick, round) => ({
    ...state,
    nodes: replaceOne(state.nodes, pick, (node) => ({ ...node, ...change(node, round) })),
  });
}

function ofPod(change: (pod: ClusterState["pods"][number], round: number, state: ClusterState) => object): Change {
  return (state, pick, round) => ({
    ...state,
    pods: replaceOne(state.pods, pick, (pod) => ({ ...pod, ...change(pod, round, state) })),
  });
}

/** A new measurement of one device; `claimants` stay the same list unless they change. */
function ofReading(change: (reading: DeviceReading, round: number) => Partial<DeviceReading>): Change {
  return (state, pick, round) => ({
    ...state,
    telemetry: replaceOne(state.telemetry, pick, (page) => ({
      ...page,
      receivedAt: now + 30 * round,
      devices: replaceOne(page.devices, pick, (reading) => ({ ...reading, ...change(reading, round) })),
    })),
  });
}

function ofPage(change: (page: ClusterState["telemetry"][number]) => object): Change {
  return (state, pick) => ({
    ...state,
    telemetry: replaceOne(state.telemetry, pick, (page) => ({ ...page, ...change(page) })),
  });
}

function ofSlice(
  change: (slice: ClusterState["resourceSlices"][number], round: number) => ClusterState["resourceSlices"][number],
): Change {
  return (state, pick, round) => ({
    ...state,
    resourceSlices: replaceOne(state.resourceSlices, pick, (slice) => change(slice, round)),
  });
}

function ofClaim(change: (claim: ClusterState["resourceClaims"][number], state: ClusterState) => object): Change {
  return (state, pick) => ({
    ...state,
    resourceClaims: replaceOne(state.resourceClaims, pick, (one) => ({ ...one, ...change(one, state) })),
  });
}

function without(kind: "nodes" | "pods" | "telemetry" | "resourceClaims" | "resourceSlices"): Change {
  return (state, pick) => ({ ...state, [kind]: state[kind].filter((_, i) => i !== pick % state[kind].length) });
}

const changes = {
  nothing: (state) => state,
  "every measurement": (state, pick, round) => ({
    ...state,
    telemetry: state.telemetry.map((page) => ({
      ...page,
      receivedAt: now + 30 * round,
      devices: page.devices.map((reading) => ({ ...reading, smActive: ((pick + round) % 10) / 10 })),
    })),
  }),
  "a measurement goes": ofReading(() => ({ smActive: null, gpuUtil: null, grEngineActive: null })),
  "a device becomes idle": ofReading(() => ({ smActive: 0, gpuUtil: 0, grEngineActive: 0 })),
  "GPU memory": ofReading((_, round) => ({ memoryTotalBytes: round * 2 ** 34 })),
  "model name": ofReading(() => ({ modelName: "Tesla T4" })),
  "virtual slots": ofReading((_, round) => ({ virtualSlots: round })),
  "claimants of a row": ofReading((_, round) => ({ claimants: [claimant(`n0-p${round % 5}`)] })),
  "process values": ofReading(({ claimants }, round) => ({
    claimants: claimants.map((one) => ({ ...one, processUtil: (round % 10) / 10 })),
  })),
  "no claimants": ofReading(() => ({ claimants: [] })),
  "order of rows": ofPage(({ devices }) => ({ devices: [...devices].reverse() })),
  "a row twice": ofPage(({ devices }) => ({ devices: [...devices, ...devices.slice(0, 1)] })),
  "page goes": without("telemetry"),
  "page of another node": ofPage(() => ({ node: "n0" })),
  "page of no node": ofPage(() => ({ node: null })),
  "node goes": without("nodes"),
  "node label": ofNode(({ labels }) => ({ labels: { ...labels, "karpenter.sh/nodepool": "other" } })),
  "node product": ofNode(({ labels }) => ({ labels: { ...labels, "nvidia.com/gpu.product": "NVIDIA-L40S" } })),
  "node taint": ofNode(() => ({
    taints: [{ key: "node.kubernetes.io/not-ready", value: "", effect: "NoExecute" as const }],
  })),
  "node not ready": ofNode((_, round) => ({ ready: false, readyChangedAt: round % 2 === 0 ? null : now - 60 })),
  "node reboots": ofNode((_, round) => ({ bootId: `boot-${round}` })),
  "GPU lost": ofNode(({ capacity }) => ({
    allocatable: Object.fromEntries(Object.entries(capacity).map(([name, units]) => [name, Math.max(0, units - 1)])),
  })),
  "node empty": ofNode(() => ({ capacity: {}, allocatable: {}, labels: {} })),
  "order of nodes": (state) => ({ ...state, nodes: [...state.nodes].reverse() }),
  "pod goes": without("pods"),
  "pod ends": ofPod(() => ({ phase: "Succeeded" })),
  "pod waits": ofPod(() => ({ nodeName: null, phase: "Pending", scheduledAt: null })),
  "pod moves": ofPod((_, round, { nodes }) => ({ nodeName: nodes[round % nodes.length]?.name ?? "n0" })),
  "pod starts": ofPod(() => ({ allContainersStarted: false })),
  "pod keeps GPUs": ofPod(() => ({ namespace: "kai-resource-reservation" })),
  "pod label": ofPod(({ labels }, round) => ({ labels: { ...labels, "kueue.x-k8s.io/queue-name": `q${round}` } })),
  "pod in a gang": ofPod(({ labels }) => ({
    labels: { ...labels, "kueue.x-k8s.io/pod-group-name": "gang" },
    annotations: { "kueue.x-k8s.io/pod-group-total-count": "4" },
  })),
  "pod says progress": ofPod(({ annotations }, round) => ({
    annotations: { ...annotations, "fairlead.dev/progress-units": String(round) },
  })),
  "owner says progress": (state, _pick, round) => ({
    ...state,
    owners: state.owners.map((one) => ({ ...one, annotations: { "fairlead.dev/progress-units": String(round) } })),
  }),
  "pod saves its state": ofPod(({ annotations }, round) => ({
    annotations: { ...annotations, "fairlead.dev/checkpointed-at": isoTime(now + 45 * round) },
  })),
  "owner saves its state": (state, _pick, round) => ({
    ...state,
    owners: state.owners.map((one) => ({
      ...one,
      annotations: { "volcano.sh/last-checkpoint-time": isoTime(now + 45 * round) },
    })),
  }),
  "queue objects have checkpoints": (state, _pick, round) => {
    const reported = { checkpointedAt: round % 3 === 0 ? null : now + 45 * round };
    const { queues } = state;
    return {
      ...state,
      queues: {
        ...queues,
        kueueWorkloads: queues.kueueWorkloads.map((one) => ({ ...one, ...reported })),
        kaiPodGroups: queues.kaiPodGroups.map((one) => ({ ...one, ...reported })),
        volcanoPodGroups: queues.volcanoPodGroups.map((one) => ({ ...one, ...reported })),
      },
    };
  },
  "pod is to stay": ofPod(({ annotations, hasLocalStorage }, round) => ({
    annotations: { ...annotations, "karpenter.sh/do-not-disrupt": String(round % 2 === 0) },
    hasLocalStorage: !hasLocalStorage,
  })),
  "pods of an owner are to stay": (state, _pick, round) => ({
    ...state,
    owners: state.owners.map((one) => ({
      ...one,
      annotations: { "fairlead.dev/do-not-disrupt": String(round % 2 === 0) },
    })),
  }),
  "job loses pods": (state, _pick, round) => ({
    ...state,
    owners: state.owners.map((one) => ({ ...one, job: jobLimits({ failed: round }) })),
  }),
  "jobs of one set": (state, pick, round) => ({
    ...state,
    pods: state.pods.map((one, i) => ({ ...one, owner: ownerRef(owner("Job", `train-${i % 2}`)) })),
    owners: [0, 1].map((i) =>
      owner("Job", `train-${i}`, owner("JobSet", "set"), {
        job: pick % 3 === i ? null : jobLimits({ failed: round % (2 + i) }),
      }),
    ),
  }),
  "pod without meaning": ofPod(({ gpu }) => ({ gpu: { ...gpu, resources: { "nvidia.com/strange": 2 } } })),
  "pod asks for more": ofPod(({ gpu }) => ({ gpu: { ...gpu, resources: { "nvidia.com/gpu": 3 } } })),
  "pod made anew": ofPod(({ uid }, round) => ({ uid: `${uid}-${round}` })),
  "order of pods": (state) => ({ ...state, pods: [...state.pods].reverse() }),
  "owner named": ofPod(() => ({ owner: ownerRef(owner("Job", "train")) })),
  "owner read late": (state) => ({ ...state, owners: [owner("Job", "train", owner("JobSet", "set"))] }),
  "owner of the owner": (state) => ({
    ...state,
    owners: [
      owner("Job", "train", owner("JobSet", "set")),
      owner("JobSet", "set", null, { labels: { "fairlead.dev/idle-opt-out": "true" } }),
    ],
  }),
  "a pod owns": ofPod((_, _round, { pods: [leader] }) =>
    leader === undefined ? {} : { owner: { apiVersion: "v1", kind: "Pod", name: leader.name, uid: leader.uid } },
  ),
  "namespace label": (state, _, round) => ({
    ...state,
    namespaces: [namespace("research", { team: `team-${round % 3}` })],
  }),
  "no namespaces": (state) => ({ ...state, namespaces: [] }),
  "claim goes": without("resourceClaims"),
  "claim given another device": (state, pick) => ({
    ...state,
    resourceClaims: replaceOne(state.resourceClaims, pick, (one) => ({
      ...one,
      allocated: [allocated(state.nodes[0]?.name ?? "n0", "gpu-1")],
    })),
  }),
  "claim for monitoring only": ofClaim((one) => ({
    allocated: one.allocated.map((result) => ({ ...result, adminAccess: true })),
  })),
  "claim reserved for others": ofClaim((_, { pods }) => ({ reservedForPods: pods.slice(-2).map((pod) => pod.uid) })),
  "claim over nodes": (state) => ({
    ...state,
    resourceClaims: [
      ...state.resourceClaims.filter((one) => one.name !== "wide"),
      claim(
        "wide",
        [allocated("n0", "gpu-0"), allocated("n1", "gpu-0", { shareId: "s" })],
        state.pods.filter((_, i) => i % 3 === 0).map((pod) => pod.name),
      ),
    ],
  }),
  "slice goes": without("resourceSlices"),
  "slice tainted": ofSlice((slice) => ({
    ...slice,
    devices: slice.devices.map((device) => ({
      ...device,
      taints: [{ key: "bad", value: "", effect: "NoSchedule" as const }],
    })),
  })),
  "slice with another GPU": ofSlice((slice, round) => ({
    ...slice,
    devices: [...slice.devices, sliceGpu(`gpu-${10 + round}`, `GPU-00000009-00${round}`)],
  })),
  "a kind is not known": (state, pick) => {
    const kinds: readonly ObjectKind[] = ["nodes", "pods", "namespaces", "resourceClaims", "resourceSlices"];
    return { ...state, known: new Set([...state.known].filter((kind) => kind !== kinds[pick % kinds.length])) };
  },
  ...queueChanges,
} as const satisfies Readonly<Record<string, Change>>;

export type ChangeName = keyof typeof changes;

/** Every kind of input that can change between two cycles. */
export const changeNames: readonly ChangeName[] = Object.keys(changes).filter(isChangeName);

function isChangeName(name: string): name is ChangeName {
  return Object.hasOwn(changes, name);
}

/** The state after one change. */
export function changed(state: ClusterState, name: ChangeName, pick: number, round: number): ClusterState {
  const change: Change = changes[name];
  return change(state, pick, round);
}
