import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { explainWaiting } from "../../../exporter/analysis/waiting/explainWaiting.ts";
import type { WaitingGang } from "../../../exporter/join/queues/queueing.ts";
import type { Snapshot } from "../../../exporter/join/snapshot.ts";
import type { Blocker } from "../../../exporter/model/blockers.ts";
import type { PodNeeds } from "../../../exporter/model/queues/podNeeds.ts";
import { leaf, part, requests, type TestNode, waitingGang, waitingMoment } from "../waiting/waitingBuilder.ts";
import { blockedAt } from "./blockedWork.ts";

/** A node in plain numbers: GPUs, CPU cores and units of memory; `used` ones are allocated. */
interface PlainNode {
  readonly pool: "big" | "small";
  readonly model: "H100" | "A100";
  readonly zone: "a" | "b";
  readonly isTainted: boolean;
  readonly takesPods: boolean;
  readonly physicalGpus: number;
  readonly freeGpus: number;
  readonly freeCpu: number;
  readonly freeMemory: number;
}

interface PlainPod {
  readonly physicalGpus: number;
  readonly cpu: number;
  readonly memory: number;
  readonly model: "H100" | "A100" | null;
  readonly zone: "a" | "b" | null;
  readonly tolerates: boolean;
}

const plainNode: fc.Arbitrary<PlainNode> = fc
  .record({
    pool: fc.constantFrom("big", "big", "small"),
    model: fc.constantFrom("H100", "H100", "A100"),
    zone: fc.constantFrom("a", "a", "b"),
    isTainted: fc.constantFrom(false, false, false, true),
    takesPods: fc.constantFrom(true, true, true, true, false),
    physicalGpus: fc.integer({ min: 1, max: 4 }),
    freeGpus: fc.integer({ min: 0, max: 4 }),
    freeCpu: fc.integer({ min: 0, max: 4 }),
    freeMemory: fc.integer({ min: 0, max: 4 }),
  })
  .map((node) => ({ ...node, freeGpus: Math.min(node.physicalGpus, node.freeGpus) }));

const plainPod: fc.Arbitrary<PlainPod> = fc.record({
  physicalGpus: fc.integer({ min: 1, max: 4 }),
  cpu: fc.constantFrom(0, 0, 1, 2, 3),
  memory: fc.constantFrom(0, 0, 1, 2, 3),
  model: fc.constantFrom(null, null, "H100", "A100"),
  zone: fc.constantFrom(null, null, null, "a", "b"),
  tolerates: fc.boolean(),
});

/** Pods of a gang: a few that are alike, and perhaps others. */
const plainGang = fc.array(fc.record({ pod: plainPod, pods: fc.integer({ min: 1, max: 3 }) }), {
  minLength: 1,
  maxLength: 2,
});

type PlainGang = readonly { readonly pod: PlainPod; readonly pods: number }[];

const takes = (node: PlainNode, pod: PlainPod): boolean =>
  node.takesPods &&
  (!node.isTainted || pod.tolerates) &&
  (pod.model === null || pod.model === node.model) &&
  (pod.zone === null || pod.zone === node.zone);

/** Tries every node for every pod. */
function canPlace(nodes: readonly PlainNode[], pods: readonly PlainPod[]): boolean {
  const [pod, ...others] = pods;
  if (pod === undefined) return true;
  return nodes.some((node, i) => {
    const freeGpus = node.freeGpus - pod.physicalGpus;
    // A pod that asks for none is never short of it.
    const freeCpu = pod.cpu === 0 ? node.freeCpu : node.freeCpu - pod.cpu;
    const freeMemory = pod.memory === 0 ? node.freeMemory : node.freeMemory - pod.memory;
    if (!takes(node, pod) || freeGpus < 0 || freeCpu < 0 || freeMemory < 0) return false;
    return canPlace(nodes.with(i, { ...node, freeGpus, freeCpu, freeMemory }), others);
  });
}

const podsOf = (gang: PlainGang): readonly PlainPod[] =>
  gang.flatMap(({ pod, pods }) => new Array<PlainPod>(pods).fill(pod));

/** For each kind of pod, and for all, as many GPUs are free in the pools with a node that is large enough and one of its model. */
function isEnough(nodes: readonly PlainNode[], gang: PlainGang): boolean {
  const poolsWith = (isWanted: (node: PlainNode) => boolean) => new Set(nodes.filter(isWanted).map(({ pool }) => pool));
  const poolsFor = (gangs: PlainGang) =>
    new Set(
      gangs.flatMap(({ pod }) => {
        const ofModel = poolsWith(({ model }) => (pod.model ?? model) === model);
        return [...poolsWith(({ physicalGpus }) => physicalGpus >= pod.physicalGpus)].filter((pool) =>
          ofModel.has(pool),
        );
      }),
    );
  const enough = (gangs: PlainGang) => {
    const serving = poolsFor(gangs);
    const free = nodes
      .filter(({ takesPods, pool }) => takesPods && serving.has(pool))
      .reduce((sum, node) => sum + node.freeGpus, 0);
    return gangs.reduce((sum, { pod, pods }) => sum + pods * pod.physicalGpus, 0) <= free;
  };
  return gang.every((one) => enough([one])) && enough(gang);
}

/** The first thing that lets it in. */
function blockerOf(nodes: readonly PlainNode[], gang: PlainGang): Blocker {
  const fitsWith = (lifted: Partial<PlainPod>) =>
    canPlace(
      nodes,
      podsOf(gang).map((pod) => ({ ...pod, ...lifted })),
    );
  if (fitsWith({ cpu: 0 })) return "cpu";
  if (fitsWith({ memory: 0 })) return "memory";
  if (fitsWith({ cpu: 0, memory: 0 })) return "cpu_and_memory";
  if (fitsWith({ model: null })) return "model";
  return fitsWith({ zone: null, tolerates: true }) ? "selector" : "spread";
}

const product = "nvidia.com/gpu.product";

function testNode(node: PlainNode): TestNode {
  return {
    allocated: Array.from({ length: node.physicalGpus }, (_, i) => (i < node.freeGpus ? 0 : 1)),
    physicalGpu: { pool: node.pool },
    pools: [node.pool],
    labels: { [product]: node.model, zone: node.zone },
    taints: node.isTainted ? [{ key: "team", value: "x", effect: "NoSchedule" }] : [],
    schedulable: node.takesPods,
    allocatableCpuMilli: 10_000,
    cpuMilliUsed: 10_000 - node.freeCpu * 1000,
    allocatableMemoryBytes: 10,
    memoryBytesUsed: 10 - node.freeMemory,
  };
}

function needsOf({ physicalGpus, cpu, memory, model, zone, tolerates }: PlainPod): { readonly needs: PodNeeds } {
  return requests(
    { "nvidia.com/gpu": physicalGpus, cpu, memory },
    {
      nodeSelector: zone === null ? {} : { zone },
      nodeAffinity: model === null ? [] : [[{ key: product, operator: "In", values: [model] }]],
      tolerations: tolerates ? [{ key: "team", operator: "Exists", value: "", effect: null }] : [],
    },
  );
}

const gangOf = (gang: PlainGang): WaitingGang =>
  waitingGang(gang.map(({ pod, pods }) => part(pods, pod.physicalGpus, needsOf(pod))));

function momentOf(nodes: readonly PlainNode[], gangs: readonly WaitingGang[]): Snapshot {
  const pools = ["big", "small"];
  const domains = [{ name: "big+small", pools, capacity: 0, allocatedOnUnschedulable: 0, unknownBecause: null }];
  const queues = [leaf({ gangs: gangs.map((_gang, i) => i) })];
  return waitingMoment(nodes.map(testNode), gangs, { domains, queues });
}

const clusters = fc.array(plainNode, { minLength: 1, maxLength: 4 });

describe("blocked work", () => {
  it("is exactly what has enough in all and cannot be placed, by the first thing that would let it in", () => {
    const seen = new Map<string, number>();
    fc.assert(
      fc.property(clusters, plainGang, (nodes, gang) => {
        const isBlocked = isEnough(nodes, gang) && !canPlace(nodes, podsOf(gang));
        const expected = isBlocked ? blockerOf(nodes, gang) : undefined;
        seen.set(expected ?? "none", (seen.get(expected ?? "none") ?? 0) + 1);
        const [found] = blockedAt(momentOf(nodes, [gangOf(gang)])).work;
        expect(found?.blocker).toBe(expected);
      }),
      { seed: 11, numRuns: 6000 },
    );
    // Every case has come up.
    for (const blocker of ["none", "cpu", "memory", "cpu_and_memory", "model", "selector", "spread"]) {
      expect([blocker, seen.get(blocker) ?? 0]).toEqual([blocker, expect.toSatisfy((times: number) => times > 20)]);
    }
  });

  it("is judged for each of many gangs as if it were alone", () => {
    fc.assert(
      fc.property(clusters, fc.array(plainGang, { minLength: 1, maxLength: 5 }), (nodes, gangs) => {
        const waiting = gangs.map((gang, i) => ({ ...gangOf(gang), uid: `u${i}` }));
        const together = blockedAt(momentOf(nodes, [...waiting, ...waiting]));
        const alone = waiting.flatMap((gang) => blockedAt(momentOf(nodes, [gang])).work);
        const withoutIndex = together.work.map((work) => ({ ...work, gang: 0 }));
        expect(withoutIndex).toEqual([...alone, ...alone]);
      }),
      { seed: 12, numRuns: 500 },
    );
  });
});

describe("blocked work and the cause of its wait", () => {
  it("agree: fragmentation is always blocked, and what is blocked waits for it or for what is looked at first", () => {
    const parts = fc.record({
      notReadyPods: fc.constantFrom(0, 0, 0, 1),
      reason: fc.constantFrom("", "", "", "OverLimit", "TopologyPlacementFailed: no place"),
    });
    fc.assert(
      fc.property(clusters, plainGang, parts, (nodes, gang, more) => {
        const moment = momentOf(nodes, [{ ...gangOf(gang), ...more }]);
        const cause = explainWaiting(moment, { waitTargets: [] }).work[0]?.cause;
        const [found] = blockedAt(moment).work;
        if (cause === "fragmentation" || cause === "topology") expect(found).toBeDefined();
        if (found === undefined) return;
        expect(["fragmentation", "topology", "constraint", "quota", "gang", "capacity"]).toContain(cause);
        if (cause === "topology") expect(found.blocker).toBe("topology");
        if (cause === "capacity") expect(["model", "selector", "spread"]).toContain(found.blocker);
      }),
      { seed: 13, numRuns: 3000 },
    );
  });
});
