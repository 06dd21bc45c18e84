import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Memory } from "../../exporter/join/memory.ts";
import type { OwnerObject } from "../../exporter/model/cluster.ts";
import type { Pod } from "../../exporter/model/pod.ts";
import { noQueueObjects, type QueueObjects } from "../../exporter/model/queues/queueObjects.ts";
import {
  coschedulingPodGroup,
  kaiPodGroup,
  kueuePodSet,
  kueueWorkload,
  nativePodGroup,
  nativeWorkload,
  volcanoPodGroup,
} from "../analysis/queueObjectBuilder.ts";
import { gpuNode, gpuPod, now, owner, ownerRef, page, reading } from "./clusterBuilder.ts";
import { analysed, defaultSettings, joined } from "./outcomes.ts";

/** Who knows a gang besides its job: any of these at once. */
const systems = ["native", "native 1.35", "kueue", "lws", "kai", "volcano", "coscheduling"] as const;
type System = (typeof systems)[number];

interface GangSpec {
  readonly knownBy: readonly System[];
  readonly isJobGang: boolean;
  /** Of each member: whether it runs, waits, or is done. */
  readonly members: readonly ("runs" | "waits" | "done")[];
}

const gangSpec: fc.Arbitrary<GangSpec> = fc.record({
  knownBy: fc.subarray([...systems]),
  isJobGang: fc.boolean(),
  members: fc.array(fc.constantFrom("runs" as const, "runs" as const, "waits" as const, "done" as const), {
    minLength: 2,
    maxLength: 4,
  }),
});

interface Made {
  readonly pods: readonly Pod[];
  readonly owners: readonly OwnerObject[];
  readonly queues: Partial<QueueObjects>;
}

/** The objects of one gang, and of the systems that know it. */
function madeOf({ knownBy, isJobGang, members }: GangSpec, index: number, node: string): Made {
  const name = `g${index}`;
  const size = members.length;
  const knows = (system: System): boolean => knownBy.includes(system);
  const gangPods = isJobGang || knows("lws") ? { gangPods: size } : {};
  const top = knows("lws")
    ? owner("LeaderWorkerSet", name, null, { apiVersion: "leaderworkerset.x-k8s.io/v1", ...gangPods })
    : owner("PyTorchJob", name, null, { apiVersion: "kubeflow.org/v1", ...gangPods });
  // One scheduler places a pod.
  const schedulerName = knows("kai") ? "kai-scheduler" : knows("volcano") ? "volcano" : "default-scheduler";
  const schedulingGroup = knows("native")
    ? { workload: null, name, replica: "" }
    : knows("native 1.35")
      ? { workload: name, name: "workers", replica: "" }
      : null;
  const labels = {
    ...(knows("lws")
      ? { "leaderworkerset.sigs.k8s.io/name": name, "leaderworkerset.sigs.k8s.io/group-index": "0" }
      : {}),
    ...(knows("coscheduling") ? { "scheduling.x-k8s.io/pod-group": name } : {}),
  };
  const pods = members.map((state, i) =>
    gpuPod(`${name}-${i}`, state === "waits" ? null : node, 1, {
      owner: ownerRef(top),
      schedulerName,
      phase: state === "waits" ? "Pending" : state === "done" ? "Succeeded" : "Running",
      ...(schedulingGroup === null ? {} : { schedulingGroup }),
      labels,
      annotations: {
        ...(knows("lws") ? { "leaderworkerset.sigs.k8s.io/size": String(size) } : {}),
        ...(knows("kueue") ? { "kueue.x-k8s.io/workload": name } : {}),
        ...(knows("kai") ? { "pod-group-name": name } : {}),
        ...(knows("volcano") ? { "scheduling.k8s.io/group-name": name } : {}),
      },
    }),
  );
  const podSets = [kueuePodSet("main", size, { "nvidia.com/gpu": 1 })];
  const controller = { apiGroup: "kubeflow.org", kind: top.kind, name };
  return {
    pods,
    owners: [top],
    queues: {
      nativePodGroups: knows("native") ? [nativePodGroup(name, { minCount: size, owner: ownerRef(top) })] : [],
      nativeWorkloads:
        knows("native") || knows("native 1.35")
          ? [nativeWorkload(name, { controller, groups: knows("native") ? [] : [{ name: "workers", minCount: size }] })]
          : [],
      kueueWorkloads: knows("kueue") ? [kueueWorkload(name, { podSets, owner: ownerRef(top) })] : [],
      kaiPodGroups: knows("kai") ? [kaiPodGroup(name, { minMember: size })] : [],
      coschedulingPodGroups: knows("coscheduling") ? [coschedulingPodGroup(name, { minMember: size })] : [],
      volcanoPodGroups: knows("volcano") ? [volcanoPodGroup(name, { minMember: size })] : [],
    },
  };
}

const listed = <Row>(rows: readonly Row[], turned: boolean): readonly Row[] => (turned ? [...rows].reverse() : rows);

function stepOf(specs: readonly GangSpec[], turned: boolean, at: number, memory?: Memory) {
  const made = specs.map((spec, i) => madeOf(spec, i, `n${i}`));
  const all = <Kind extends keyof QueueObjects>(kind: Kind): readonly QueueObjects[Kind][number][] =>
    listed(
      made.flatMap(({ queues }): readonly QueueObjects[Kind][number][] => queues[kind] ?? []),
      turned,
    );
  const state = {
    nodes: listed(
      specs.map((_, i) => gpuNode(`n${i}`, 4)),
      turned,
    ),
    pods: listed(
      made.flatMap(({ pods }) => pods),
      turned,
    ),
    owners: listed(
      made.flatMap(({ owners }) => owners),
      turned,
    ),
    queues: {
      ...noQueueObjects,
      nativePodGroups: all("nativePodGroups"),
      nativeWorkloads: all("nativeWorkloads"),
      kueueWorkloads: all("kueueWorkloads"),
      kaiPodGroups: all("kaiPodGroups"),
      volcanoPodGroups: all("volcanoPodGroups"),
      coschedulingPodGroups: all("coschedulingPodGroups"),
    },
    telemetry: specs.map((_, i) =>
      page(
        `n${i}`,
        [0, 1, 2, 3].map((k) => reading(`GPU-${i}-${k}`, 0, `g${i}-${k}`)),
      ),
    ),
  };
  return joined(state, defaultSettings, memory, at);
}

describe("a gang that several systems know", () => {
  it("is counted once, in whatever order its objects come, and every GPU is in one state", () => {
    fc.assert(
      fc.property(fc.array(gangSpec, { minLength: 1, maxLength: 4 }), fc.boolean(), (specs, turned) => {
        const whole = specs.map((spec) => ({ ...spec, members: spec.members.map(() => "runs" as const) }));
        const first = stepOf(whole, false, now);
        const one = stepOf(specs, false, now + 30, first.memory);
        const other = stepOf(specs, turned, now + 30, stepOf(whole, turned, now).memory);
        const { snapshot } = one;
        for (const [i, spec] of specs.entries()) {
          const views = snapshot.pods.filter(({ name }) => name.startsWith(`g${i}-`)).map(({ gang }) => gang);
          const ids = new Set(views.map((gang) => gang?.id ?? null));
          expect(ids.size, JSON.stringify(spec)).toBeLessThanOrEqual(1);
          const [view = null] = views;
          if (view === null) continue;
          const bound = spec.members.filter((state) => state !== "waits").length;
          expect(view).toMatchObject({ bound, min: spec.members.length });
        }
        const gangs = snapshot.pods.flatMap(({ gang }) => gang ?? []);
        const holding = new Set(gangs.map(({ id }) => id));
        expect(holding.size).toBeLessThanOrEqual(specs.length);
        const [mine, theirs] = [analysed(snapshot), analysed(other.snapshot)];
        expect(theirs.waiting.partialGangs).toEqual(mine.waiting.partialGangs);
        expect(other.memory.gangMost).toEqual(one.memory.gangMost);
        expect(other.memory.gangNewest).toEqual(one.memory.gangNewest);
        const partial = mine.waiting.partialGangs;
        expect(new Set(partial.map(({ id }) => id)).size).toBe(partial.length);
        const waits = (found: typeof mine) =>
          found.accountingEntries.list.reduce((sum, { state, gpus }) => sum + (state === "gang_wait" ? gpus : 0), 0);
        expect(waits(mine)).toBeCloseTo(
          partial.reduce((sum, { allocatedGpus }) => sum + allocatedGpus, 0),
          9,
        );
        expect(waits(theirs)).toBeCloseTo(waits(mine), 9);
        expect(mine.accountingEntries.list.reduce((sum, { gpus }) => sum + gpus, 0)).toBeCloseTo(4 * specs.length, 9);
      }),
      { numRuns: 150 },
    );
  });
});
