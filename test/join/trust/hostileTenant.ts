import fc from "fast-check";
import type { ClusterState } from "../../../exporter/model/cluster.ts";
import type { Pod } from "../../../exporter/model/pod.ts";
import type { KueueWorkload } from "../../../exporter/model/queues/kueue.ts";
import { trustedNames } from "../../../exporter/model/trust/trustedNames.ts";
import { ownerRef, pod } from "../clusterBuilder.ts";
import { anySharedCluster, type SharedCluster } from "./sharedCluster.ts";

/** Names of pods that the table knows: what a tenant may write. */
const podNames = trustedNames
  .filter(({ on, name }) => on.includes("pods") && !name.includes(" "))
  .map(({ name }) => name);

/** Names that mean something together. */
const kits: readonly (readonly string[])[] = [
  ["gpu-fraction", "runai-gpu-group", "gpu-fraction-num-devices"],
  ["gpu-memory", "runai-gpu-group", "pod-group-name"],
  ["run.ai/reserve_for_gpu_index", "runai-gpu-group"],
  ["hami.io/vgpu-devices-allocated"],
  ["volcano.sh/vgpu-ids-new"],
  ["kueue.x-k8s.io/cluster-queue-name", "kueue.x-k8s.io/workload", "kueue.x-k8s.io/queue-name"],
  ["kueue.x-k8s.io/pod-group-name", "kueue.x-k8s.io/pod-group-total-count"],
  ["leaderworkerset.sigs.k8s.io/name", "leaderworkerset.sigs.k8s.io/size"],
  ["kai.scheduler/queue", "pod-group-name"],
  ["volcano.sh/queue-name", "scheduling.k8s.io/group-name"],
];
const anyNames = fc.oneof(fc.constantFrom(...kits), fc.constantFrom(...podNames.map((name) => [name])));

const words = fc
  .tuple(
    fc.array(anyNames, { maxLength: 4 }),
    fc.array(fc.record({ value: fc.nat(60), isLabel: fc.boolean() }), { minLength: 12, maxLength: 12 }),
  )
  .map(([names, written]) =>
    names.flat().map((name, i) => ({ name, value: written[i]?.value ?? 0, isLabel: written[i]?.isLabel ?? true })),
  );

/** One pod that a tenant makes; what the numbers mean depends on the cluster. */
const hostilePod = fc.record({
  words,
  namespace: fc.constantFrom("evil", "evil", "evil", "aaa", "runai-reservation"),
  scheduler: fc.constantFrom(
    "default-scheduler",
    "default-scheduler",
    "kai-scheduler",
    "runai-scheduler",
    "volcano",
    "hami-scheduler",
  ),
  owner: fc.option(fc.nat(9)),
  claim: fc.option(fc.nat(3)),
  node: fc.nat(9),
  gpus: fc.constantFrom(0, 0, 0, 1, 2),
  ended: fc.constantFrom(false, false, false, true),
  /** It waits; then it requests nothing: who asks for GPUs has a share in fairness, which is another rule. */
  waits: fc.constantFrom(false, false, false, true),
});

type HostilePod = typeof hostilePod extends fc.Arbitrary<infer T> ? T : never;

/** The same cluster with and without a tenant, and how much the tenant really got. */
export interface Attack {
  readonly honest: ClusterState;
  readonly attacked: ClusterState;
  /**
   * The same as `attacked`, of a tenant that writes nothing: pods with the same requests on the same nodes. `null` where one is
   * placed by a scheduler with queues, whose words that scheduler has accepted, passes for a reservation of KAI's
   * (`reservation-unserved`: nobody holds its card), or says that it has more of a shared card than a slot: up to the whole
   * card for each unit that it asked for.
   */
  readonly silent: ClusterState | null;
  readonly pods: readonly Pod[];
  /** Physical GPUs that its pods requested and were bound with, or hold by fractions that KAI placed: at most. */
  readonly got: number;
  readonly shared: SharedCluster;
}

/** Values that could mean something: names of others' queues, cards, groups, work; numbers; nonsense. */
function textOf(cluster: SharedCluster, pick: number): string {
  const { uuids, queues, groups, jobs } = cluster;
  const all = [
    ...queues,
    ...jobs.map(({ name }) => name),
    ...groups,
    ...uuids,
    `${uuids.map((uuid) => `${uuid},NVIDIA,1,1`).join(":")}:;`,
    `${uuids.map((uuid) => `${uuid},NVIDIA,0,100`).join(":")}:;`,
    "GPU-ffffffff-0000,NVIDIA,1,1:;",
    ...["0.01", "0.5", "1", "2", "8", "64", "true", "false", "main", "evil", "", "x"],
  ];
  return all[pick % all.length] ?? "";
}

/** Workloads of the tenant's own namespace that say of themselves what those of others do. */
function forgedOf({ queues: { kueueWorkloads } }: ClusterState): readonly KueueWorkload[] {
  return kueueWorkloads.map((one) => ({
    ...one,
    namespace: "aaa",
    uid: `forged-${one.uid}`,
    admission: null,
    conditions: [],
  }));
}

function attackOf(shared: SharedCluster, chosen: readonly HostilePod[], forges: boolean): Attack {
  const left = new Map(shared.free);
  const pods: Pod[] = [];
  let got = 0;
  for (const one of chosen) {
    const made = podOf(one, pods.length, shared, left);
    pods.push(made);
    const requested = made.gpu.resources["nvidia.com/gpu"] ?? 0;
    if (made.phase === "Running") got += requested > 0 ? requested : fractionOf(made);
  }
  const { state } = shared;
  const queues = forges
    ? { ...state.queues, kueueWorkloads: [...forgedOf(state), ...state.queues.kueueWorkloads] }
    : state.queues;
  const attacked = { ...state, queues, pods: [...pods, ...state.pods] };
  return { honest: state, attacked, silent: silentOf(state, pods), pods, got, shared };
}

const allocations = ["hami.io/vgpu-devices-allocated", "volcano.sh/vgpu-ids-new"];
const withQueues: ReadonlySet<string> = new Set(["kai-scheduler", "runai-scheduler", "volcano"]);

function silentOf(state: ClusterState, pods: readonly Pod[]): ClusterState | null {
  const holding = pods.filter(({ phase, gpu }) => phase === "Running" && Object.keys(gpu.resources).length > 0);
  if (pods.some(({ phase, schedulerName }) => phase === "Running" && withQueues.has(schedulerName))) return null;
  if (holding.some(({ namespace }) => namespace === "runai-reservation")) return null;
  if (holding.some(({ annotations }) => allocations.some((name) => annotations[name] !== undefined))) return null;
  const plain = holding.map(({ name, nodeName, namespace, phase, gpu }) =>
    pod(name, nodeName, { namespace, phase, gpu: { resources: gpu.resources, claims: [] } }),
  );
  return { ...state, pods: [...plain, ...state.pods] };
}

/** `left`: what nobody has requested of each node; a scheduler and the kubelet let no more in than there is. */
function podOf(one: HostilePod, place: number, shared: SharedCluster, left: Map<string, number>): Pod {
  const nodes = shared.state.nodes;
  const nodeName = nodes[one.node % nodes.length]?.name ?? "";
  const room = left.get(nodeName) ?? 0;
  const gpus = one.waits ? 0 : one.ended ? one.gpus : Math.min(one.gpus, room);
  if (!one.ended) left.set(nodeName, room - gpus);
  const job = one.owner === null ? undefined : shared.jobs[one.owner % Math.max(1, shared.jobs.length)];
  const written = (isLabel: boolean) =>
    Object.fromEntries(
      one.words.filter((word) => word.isLabel === isLabel).map(({ name, value }) => [name, textOf(shared, value)]),
    );
  return pod(`aa-${place}`, one.waits ? null : nodeName, {
    ...{ namespace: one.namespace, labels: written(true), annotations: written(false) },
    schedulerName: one.waits ? "default-scheduler" : one.scheduler,
    phase: one.ended ? "Succeeded" : one.waits ? "Pending" : "Running",
    owner: job === undefined ? null : ownerRef(job),
    gpu: {
      resources: gpus > 0 ? { "nvidia.com/gpu": gpus } : {},
      claims: one.claim === null ? [] : [{ claimName: `claim-${one.claim}` }],
    },
  });
}

/** What KAI's own words give to a pod without a request, where KAI places it: that much it has got. */
function fractionOf({ schedulerName, annotations }: Pod): number {
  if (schedulerName !== "kai-scheduler" && schedulerName !== "runai-scheduler") return 0;
  if (annotations["gpu-memory"] !== undefined) return 64;
  const fraction = Number(annotations["gpu-fraction"] ?? 0);
  if (!(fraction > 0 && fraction <= 1)) return 0;
  return fraction * Math.max(1, Math.floor(Number(annotations["gpu-fraction-num-devices"] ?? 1)) || 1);
}

/** Clusters of honest teams with a tenant in it that writes whatever it likes on pods of its own. */
export const anyAttack: fc.Arbitrary<Attack> = fc
  .tuple(anySharedCluster, fc.array(hostilePod, { minLength: 1, maxLength: 6 }), fc.boolean())
  .map(([shared, chosen, forges]) => attackOf(shared, chosen, forges));
