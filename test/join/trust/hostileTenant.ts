import fc from "fast-check";
import type { ClusterState } from "../../../exporter/model/cluster.ts";
import type { Pod } from "../../../exporter/model/pod.ts";
import type { KueueWorkload } from "../../../exporter/model/queues/kueue.ts";
import { trustedNames } from "../../../exporter/model/trust/trustedNames.ts";
import { type FreeCapacity, type PlacedPod, placePod } from "./placedTenant.ts";
import { anySharedCluster, type SharedCluster } from "./sharedCluster.ts";

/** Names of pods that the table knows: what a tenant may write. */
const podNames = trustedNames
  .filter(({ on, name }) => on.includes("pods") && !name.includes(" "))
  .map(({ name }) => name);

/** Names that mean something together. */
const kits: readonly (readonly string[])[] = [
  ["gpu-fraction", "runai-gpu-group", "gpu-fraction-num-devices"],
  ["gpu-memory", "runai-gpu-group", "pod-group-name"],
  ["nvidia.com/container.NAME.gpu-memory.request", "nvidia.com/container.NAME.gpus.devices", "runai-gpu-group"],
  ["nvidia.com/container.NAME.gpu-compute.portion", "runai-gpu-group"],
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
  /** `own`: the one that places honest pods. */
  scheduler: fc.constantFrom(
    "own",
    "own",
    "own",
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
  /** The queue in which KAI or Volcano has placed it. */
  queue: fc.nat(1),
  /** It looks like a pod by which KAI keeps a GPU for a group: of others, or made up. */
  reserves: fc.constantFrom(null, null, null, null, 0, 1, 2, 3),
  /** It says that it has so much of a GPU. */
  fraction: fc.constantFrom(null, null, null, "0.5", "1"),
  /** Without a request: KAI gave it half a GPU. */
  isFraction: fc.boolean(),
  ended: fc.constantFrom(false, false, false, true),
  /** It waits; then it requests nothing: who asks for GPUs has a share in fairness, which is another rule. */
  waits: fc.constantFrom(false, false, false, true),
});

export type HostilePod = typeof hostilePod extends fc.Arbitrary<infer T> ? T : never;

/** The same cluster with and without a tenant, and how much the tenant really got. */
export interface Attack {
  readonly honest: ClusterState;
  readonly attacked: ClusterState;
  /**
   * The same as `attacked`, of a tenant that writes nothing: pods with the same GPUs on the same nodes, with what their scheduler
   * has written of them and nothing else.
   */
  readonly silent: ClusterState;
  readonly pods: readonly PlacedPod[];
  /** Physical GPUs that nobody else can have because of it, at most: a unit of a shared node may be a whole GPU. */
  readonly got: number;
  /** Physical GPUs that its words claim beside that and that nothing can refute (`PlacedPod.claims`). */
  readonly claims: number;
  readonly shared: SharedCluster;
}

/** Values that could mean something: names of others' queues, GPUs, groups, work; numbers; nonsense. */
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
    "20Gi",
    "0.01",
    "0.5",
    "1",
    "2",
    "8",
    "64",
    "true",
    "false",
    "main",
    "evil",
    "",
    "x",
  ];
  return all[pick % all.length] ?? "";
}

const fractionText = ({ fraction }: HostilePod): Readonly<Record<string, string>> =>
  fraction === null ? {} : { "gpu-fraction": fraction };

/** What a pod says that passes for a reservation, for a group of honest teams or a made-up one, of a GPU or of none. */
function reservationOf<One extends HostilePod & Pick<Pod, "labels" | "annotations">>(
  one: One,
  pick: number,
  { groups, uuids }: SharedCluster,
): One {
  const group = pick % 2 === 0 ? (groups[pick % Math.max(1, groups.length)] ?? "made-up") : "made-up";
  const physicalGpu = pick < 2 ? {} : { "run.ai/reserve_for_gpu_index": uuids[one.node % uuids.length] ?? "" };
  return {
    ...one,
    namespace: "runai-reservation",
    gpus: 1,
    claim: null,
    waits: false,
    labels: { ...one.labels, "runai-gpu-group": group },
    annotations: { ...one.annotations, ...physicalGpu },
  };
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
  const freeCapacity: FreeCapacity = { units: new Map(shared.free), physicalGpus: new Map(shared.freeGpus) };
  const pods = chosen.map((one, place) => {
    const written = (isLabel: boolean) =>
      Object.fromEntries(
        one.words.filter((word) => word.isLabel === isLabel).map(({ name, value }) => [name, textOf(shared, value)]),
      );
    const of = { ...one, place, labels: written(true), annotations: { ...written(false), ...fractionText(one) } };
    return placePod(one.reserves === null ? of : reservationOf(of, one.reserves, shared), shared, freeCapacity);
  });
  const { state } = shared;
  const withPods = (of: (pod: PlacedPod) => ClusterState["pods"], forged: readonly KueueWorkload[]): ClusterState => ({
    ...state,
    pods: [...pods.flatMap(of), ...state.pods],
    queues: {
      ...state.queues,
      kueueWorkloads: [...forged, ...state.queues.kueueWorkloads],
      kaiPodGroups: [...state.queues.kaiPodGroups, ...pods.flatMap(({ kaiPodGroups }) => kaiPodGroups)],
      volcanoPodGroups: [...state.queues.volcanoPodGroups, ...pods.flatMap(({ volcanoPodGroups }) => volcanoPodGroups)],
    },
  });
  const sum = (of: (pod: PlacedPod) => number): number => pods.reduce((all, one) => all + of(one), 0);
  return {
    honest: state,
    attacked: withPods(({ hostile, system }) => [hostile, ...system], forges ? forgedOf(state) : []),
    silent: withPods(({ silent, system }) => (silent === null ? system : [silent, ...system]), []),
    pods,
    got: sum(({ got }) => got),
    claims: sum(({ claims }) => claims),
    shared,
  };
}

/** Clusters of honest teams with a tenant in it that writes whatever it likes on pods of its own. */
export const anyAttack: fc.Arbitrary<Attack> = fc
  .tuple(anySharedCluster, fc.array(hostilePod, { minLength: 1, maxLength: 6 }), fc.boolean())
  .map(([shared, chosen, forges]) => attackOf(shared, chosen, forges));
