import type { TextMap } from "../../../exporter/model/node.ts";
import type { Pod } from "../../../exporter/model/pod.ts";
import type { KaiPodGroup } from "../../../exporter/model/queues/kai.ts";
import type { VolcanoPodGroup } from "../../../exporter/model/queues/volcano.ts";
import { kaiGroup, volcanoGroup } from "../../queues/groupRows.ts";
import { now, ownerRef, pod } from "../clusterBuilder.ts";
import type { HostilePod } from "./hostileTenant.ts";
import { type SharedCluster, schedulers } from "./sharedCluster.ts";

/** What of the cluster nobody has yet, by node: pods that are placed take of it. */
export interface FreeCapacity {
  readonly units: Map<string, number>;
  readonly physicalGpus: Map<string, readonly string[]>;
}

/** A pod of the tenant as it looks, and as it would look if the tenant wrote nothing. */
export interface PlacedPod {
  readonly hostile: Pod;
  /** `null`: it got nothing, and says nothing. */
  readonly silent: Pod | null;
  /** Reservation pods that KAI made for it. */
  readonly system: readonly Pod[];
  readonly kaiPodGroups: readonly KaiPodGroup[];
  readonly volcanoPodGroups: readonly VolcanoPodGroup[];
  /** Physical GPUs that nobody else can have because of it, at most. */
  readonly got: number;
  /**
   * Physical GPUs that its words claim on GPUs of others, where nothing that the tenant cannot write says
   * whose claim is wrong: those GPUs are divided among all who claim them, and `allocated-twice` names them. These are a fraction
   * that KAI gave to nobody, in the group of others (whoever makes a pod may name a node; KAI writes group and fraction where the
   * tenant may write, too), and an allocation of HAMi's units on a GPU of others (HAMi as well writes what it gave into an
   * annotation alone).
   */
  readonly claims: number;
}

interface Written extends HostilePod {
  readonly place: number;
  readonly labels: TextMap;
  readonly annotations: TextMap;
}

const kaiSchedulers: ReadonlySet<string> = new Set(["kai-scheduler", "runai-scheduler"]);
const ownWordsOfKai = /^(?:nvidia\.com\/container\.|runai-gpu-group|gpu-fraction|gpu-memory|gpu-fraction-num-devices)/;
const allocation = "hami.io/vgpu-devices-allocated";

/** Honest work was there before. */
const createdAt = now - 3600;

const nothing = { system: [], kaiPodGroups: [], volcanoPodGroups: [] } as const;

/** Makes a pod as its scheduler places it, and then lets the tenant write on it. */
export function placePod(one: Written, shared: SharedCluster, freeCapacity: FreeCapacity): PlacedPod {
  const base = writtenPod(one, shared);
  if (one.waits) return { ...nothing, hostile: base, silent: null, got: 0, claims: 0 };
  const node = base.nodeName ?? "";
  const left = freeCapacity.units.get(node) ?? 0;
  const free = freeCapacity.physicalGpus.get(node) ?? [];
  const isShared = shared.shared.has(node);
  // HAMi gives whole GPUs to pods that say nothing of memory and cores.
  const most = one.ended ? one.gpus : isShared ? Math.min(left, free.length) : left;
  const isFraction = one.isFraction && isKai(shared, base.schedulerName) && one.reserves === null;
  const gpus = isFraction && !one.ended ? 0 : Math.min(one.gpus, most);
  const hostile = { ...base, gpu: { ...base.gpu, resources: gpus > 0 ? { "nvidia.com/gpu": gpus } : {} } };
  if (one.ended) return { ...nothing, hostile, silent: null, got: 0, claims: 0 };
  if (gpus === 0) return withoutRequest(one, shared, hostile, freeCapacity);
  freeCapacity.units.set(node, left - gpus);
  freeCapacity.physicalGpus.set(node, free.slice(gpus));
  return requesting(one, shared, hostile, isShared ? free.slice(0, gpus) : []);
}

/** The pod without its request, with all that the tenant writes. */
function writtenPod(one: Written, shared: SharedCluster): Pod {
  const { nodes } = shared.state;
  const job = one.owner === null ? undefined : shared.jobs[one.owner % Math.max(1, shared.jobs.length)];
  const schedulerName = one.scheduler === "own" ? schedulers[shared.system] : one.scheduler;
  return pod(`aa-${one.place}`, one.waits ? null : (nodes[one.node % nodes.length]?.name ?? ""), {
    namespace: one.namespace,
    labels: one.labels,
    annotations: one.annotations,
    createdAt,
    schedulerName: one.waits ? "default-scheduler" : schedulerName,
    phase: one.ended ? "Succeeded" : one.waits ? "Pending" : "Running",
    owner: job === undefined ? null : ownerRef(job),
    gpu: { claims: one.claim === null ? [] : [{ claimName: `claim-${one.claim}` }] },
  });
}

function withoutRequest(one: Written, shared: SharedCluster, hostile: Pod, freeCapacity: FreeCapacity): PlacedPod {
  const node = hostile.nodeName ?? "";
  const left = freeCapacity.units.get(node) ?? 0;
  const [physicalGpu, ...physicalGpus] = freeCapacity.physicalGpus.get(node) ?? [];
  const isByKai = isKai(shared, hostile.schedulerName);
  if (!isByKai || !one.isFraction || physicalGpu === undefined || left < 1 || shared.shared.has(node))
    return { ...nothing, hostile, silent: null, got: 0, claims: isByKai ? movedFraction(hostile, shared) : 0 };
  freeCapacity.units.set(node, left - 1);
  freeCapacity.physicalGpus.set(node, physicalGpus);
  return fraction(one, shared, hostile, physicalGpu);
}

const isKai = ({ system }: SharedCluster, schedulerName: string): boolean =>
  system === "kai" && kaiSchedulers.has(schedulerName);

/** What is written of a pod by whoever placed it. */
function placedBy(one: Written, shared: SharedCluster, { namespace, name, uid, schedulerName }: Pod) {
  const { system, queues } = shared;
  const owner = { apiVersion: "v1", kind: "Pod", name, uid };
  const group = { namespace, owner, uid: `uid-pg-${name}`, minMember: 1 };
  const queue = queues[one.queue] ?? "";
  const words: TextMap = {};
  if (isKai(shared, schedulerName))
    return {
      words: { "pod-group-name": `pg-${name}` },
      made: { ...nothing, kaiPodGroups: [kaiGroup(`pg-${name}`, queue, group)] },
    };
  if (system !== "volcano" || schedulerName !== "volcano") return { words, made: nothing };
  const running = { ...group, phase: "Running" as const, running: 1 };
  return {
    words: { "scheduling.k8s.io/group-name": `pg-${name}` },
    made: { ...nothing, volcanoPodGroups: [volcanoGroup(`pg-${name}`, queue, running)] },
  };
}

/** The same pod, of a tenant that writes nothing. */
const silentOf = ({ name, nodeName, namespace, schedulerName, gpu }: Pod, words: TextMap, labels: TextMap = {}): Pod =>
  pod(name, nodeName, {
    namespace,
    schedulerName,
    createdAt,
    labels,
    annotations: words,
    gpu: { resources: gpu.resources },
  });

/** `physicalGpus`: those that HAMi gave to it, which says so as it does of honest pods. */
function requesting(one: Written, shared: SharedCluster, asked: Pod, physicalGpus: readonly string[]): PlacedPod {
  const { words: ofQueue, made } = placedBy(one, shared, asked);
  const given = `${physicalGpus.map((uuid) => `${uuid},NVIDIA,81920,0`).join(":")}:;`;
  const words = physicalGpus.length === 0 ? ofQueue : { ...ofQueue, [allocation]: given };
  const hostile = { ...asked, annotations: { ...words, ...asked.annotations } };
  const units = asked.gpu.resources["nvidia.com/gpu"] ?? 0;
  const isMoved = physicalGpus.length > 0 && asked.annotations[allocation] !== undefined;
  return { ...made, hostile, silent: silentOf(asked, words), got: units, claims: isMoved ? units : 0 };
}

/** A pod to which KAI gave half of a GPU that it reserves: KAI's own words about that stay. */
function fraction(one: Written, shared: SharedCluster, asked: Pod, physicalGpu: string): PlacedPod {
  const { words, made } = placedBy(one, shared, asked);
  const group = `group-of-${asked.name}`;
  const others = (map: TextMap): TextMap =>
    Object.fromEntries(Object.entries(map).filter(([name]) => !ownWordsOfKai.test(name)));
  const labels = { "runai-gpu-group": group };
  const annotations = { ...words, "gpu-fraction": "0.5" };
  const reservation = pod(`gpu-reservation-of-${asked.name}`, asked.nodeName, {
    namespace: "kai-resource-reservation",
    labels,
    createdAt,
    annotations: { "run.ai/reserve_for_gpu_index": physicalGpu },
    gpu: { resources: { "nvidia.com/gpu": 1 } },
  });
  return {
    ...made,
    hostile: {
      ...asked,
      gpu: { ...asked.gpu, claims: [] },
      labels: { ...others(asked.labels), ...labels },
      annotations: { ...words, ...others(asked.annotations), "gpu-fraction": "0.5" },
    },
    silent: silentOf(asked, annotations, labels),
    system: [reservation],
    got: 1,
    claims: 0,
  };
}

/** What a pod claims that names KAI and a node itself, where it names the group of others. */
function movedFraction({ labels, annotations }: Pod, { groups }: SharedCluster): number {
  const named = [labels["runai-gpu-group"], annotations["runai-gpu-group"]];
  return named.some((name) => name !== undefined && groups.includes(name)) ? 1 : 0;
}
