import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { AdviceMoment } from "../../../exporter/advice/moment.ts";
import type { Pod } from "../../../exporter/model/pod.ts";
import { anyKueueCase } from "../../advice/kinds/generatedQueues.ts";
import { type KueueCase, kueueMoment } from "../../advice/kinds/kueueCluster.ts";
import {
  analysisAt,
  deployment,
  momentOf,
  pageAt,
  physicalGpu,
  podOf,
  replicaSet,
} from "../../advice/usage/watchedCluster.ts";
import { adviceOf } from "../../advice/wholeAdvice.ts";
import { everyKind, gpuNode, gpuPod, now } from "../../join/clusterBuilder.ts";

const known = new Set([...everyKind, "persistentVolumeClaims", "persistentVolumes"] as const);
const term = (app: string) => ({
  topologyKey: "kubernetes.io/hostname",
  selector: [{ key: "app", operator: "In", values: [app] }],
  namespaces: [],
});
const nearNobody: Pod["placement"] = {
  affinity: [term("nobody")],
  antiAffinity: [],
  spread: [],
  hostPorts: [],
  unknown: [],
};

/** Why a pod can never run: each alone is enough. */
const lies: readonly Partial<Pod>[] = [
  { schedulerName: "nobody" },
  { schedulerName: "kai-scheduler" },
  { volumeClaims: ["missing"] },
  { placement: nearNobody },
  { nodeSelector: { zone: "moon" } },
  { nodeAffinity: [[{ key: "kubernetes.io/hostname", operator: "In", values: ["moon"] }]] },
  { nodeAffinity: [[]] },
  { cpuMilli: 1e9 },
  { memoryBytes: 2 ** 63 },
  { unschedulable: "0/4 nodes are available: 4 node(s) didn't match Pod's node affinity/selector." },
  { unschedulable: 'persistentvolumeclaim "missing" not found' },
];

/** Only a scheduler that is there says anything of a pod. */
const spokenFor = (parts: Partial<Pod>): Partial<Pod> =>
  parts.unschedulable === undefined ? parts : { ...parts, schedulerName: "default-scheduler" };

/** Pods that a tenant may create with rights in one namespace; none of them can ever run. */
const hostilePods: fc.Arbitrary<readonly Pod[]> = fc
  .array(
    fc.record({
      namespace: fc.constantFrom("ads", "news", "search", "elsewhere"),
      lie: fc.constantFrom(...lies),
      more: fc.constantFrom(...lies, {}, {}),
      gpus: fc.constantFrom(1, 2, 4, 8),
      tooMany: fc.constantFrom(null, null, 9, 64, 1025, 9e18),
      queue: fc.constantFrom("main", "main", "other", null),
      priority: fc.constantFrom(0, 10, 2_000_000_000),
      waits: fc.constantFrom(10, 1800, 1_000_000),
    }),
    { minLength: 1, maxLength: 6 },
  )
  .map((pods) =>
    pods.map(({ namespace, lie, more, gpus, tooMany, queue, priority, waits }, i) =>
      gpuPod(`hostile-${i}`, null, tooMany ?? gpus, {
        namespace,
        priority,
        createdAt: now - waits,
        labels: queue === null ? {} : { "kueue.x-k8s.io/queue-name": queue },
        ...spokenFor(tooMany === null ? { ...more, ...lie } : more),
      }),
    ),
  );

/** What honest queues are shown and owed. */
function queuesOf({ analysis }: AdviceMoment) {
  const { queues } = analysis.snapshot.queueing;
  return queues.flatMap(({ name, isLeaf, allocated, pending, limit, guaranteed, kind }, i) => {
    if (!isLeaf || kind === "Namespace" || kind === "Team") return [];
    const { entitled, shortfall, actionableShortfall } = analysis.fairness.queues[i] ?? {};
    return [{ name, allocated, pending, limit, guaranteed, entitled, shortfall, actionableShortfall }];
  });
}

/** What is advised, with what it costs and gains. */
const advised = (moment: AdviceMoment) =>
  adviceOf(moment).recommendations.map(({ title, cost, effect, evidence: _, ...rest }) => ({
    title,
    cost,
    targets: rest.targets,
    worth: rest.worthGpuHours,
    gained: effect.gainedGpus,
    starts: effect.starts,
  }));

describe("pods that can never run", () => {
  it("change no advice, and nothing that a queue holds, is owed or is short of", () => {
    let offers = 0;
    let short = 0;
    fc.assert(
      fc.property(anyKueueCase, hostilePods, (given, pods) => {
        const more: KueueCase["more"] = { known, neighbors: [] };
        const [before, after] = [kueueMoment({ ...given, more }), kueueMoment({ ...given, more, addedPods: pods })];
        const [wanted, reported] = [advised(before), queuesOf(before)];
        expect(queuesOf(after)).toEqual(reported);
        expect(advised(after)).toEqual(wanted);
        for (const gang of after.analysis.snapshot.queueing.gangs)
          if (gang.name.startsWith("hostile")) expect(gang.never, gang.name).not.toBeNull();
        offers += wanted.length;
        short += reported.filter(({ shortfall = 0 }) => shortfall > 0).length;
      }),
      { numRuns: 150 },
    );
    expect(offers).toBeGreaterThan(5);
    expect(short).toBeGreaterThan(50);
  });

  it("move nothing either, where no scheduler has queues", () => {
    let moves = 0;
    fc.assert(
      fc.property(spreadWork, hostilePods, ({ pods, owners, telemetry }, hostile) => {
        const momentWith = (more: readonly Pod[]): AdviceMoment =>
          momentOf(
            analysisAt({
              nodes: nodeNames.map((name) => gpuNode(name, 8)),
              known,
              neighbors: [],
              owners,
              telemetry,
              podDisruptionBudgets: [],
              pods: [...pods, ...more],
            }),
          );
        const wanted = advised(momentWith([]));
        expect(advised(momentWith(hostile))).toEqual(wanted);
        moves += wanted.filter(({ cost }) => cost.pods > 0).length;
      }),
      { numRuns: 100 },
    );
    expect(moves).toBeGreaterThan(5);
  });
});

const nodeNames = ["n1", "n2", "n3"];

/** Deployments over three nodes of eight GPUs, each GPU observed, and a pod that waits for eight GPUs of one node. */
const spreadWork = fc
  .array(fc.tuple(fc.constantFrom(...nodeNames), fc.constantFrom(1, 2, 3)), { maxLength: 3 })
  .map((more) => {
    const physicalGpus = new Map(nodeNames.map((node) => [node, [] as string[]]));
    const first = nodeNames.map((node) => [node, 1] as const);
    const found = [...first, ...more].flatMap(([node, gpus], i) => {
      const allocated = physicalGpus.get(node) ?? [];
      if (allocated.length + gpus > 8) return [];
      allocated.push(...new Array<string>(gpus).fill(`d${i}-0`));
      const of = deployment(`d${i}`);
      return [{ of, pod: podOf(of, `d${i}-0`, node, gpus) }];
    });
    const telemetry = nodeNames.map((node) =>
      pageAt(
        node,
        Array.from({ length: 8 }, (_, i) => physicalGpu(`${node}-${i}`, 0.8, physicalGpus.get(node)?.[i])),
      ),
    );
    const waits = gpuPod("waits", null, 8, { createdAt: now - 3600 });
    const owners = found.flatMap(({ of }) => [of, replicaSet(of)]);
    return { pods: [...found.map(({ pod }) => pod), waits], owners, telemetry };
  });
