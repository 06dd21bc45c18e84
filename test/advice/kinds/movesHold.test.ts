import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Candidate } from "../../../exporter/advice/candidate.ts";
import { disruptionUnits } from "../../../exporter/advice/disruptionUnits.ts";
import { askGuards } from "../../../exporter/advice/guards/guards.ts";
import { findDefragment } from "../../../exporter/advice/kinds/defragment.ts";
import { leavesBy } from "../../../exporter/advice/kinds/plannedMoves.ts";
import { findUnblockGang } from "../../../exporter/advice/kinds/unblockGang.ts";
import type { AdviceMoment } from "../../../exporter/advice/moment.ts";
import { allPieces } from "../../../exporter/advice/rounds/inPieces.ts";
import { placementRules } from "../../../exporter/advice/whatIf/plan.ts";
import { createTrial } from "../../../exporter/advice/whatIf/trial.ts";
import type { GangView } from "../../../exporter/join/gangView.ts";
import type { NodePoolView } from "../../../exporter/join/snapshot.ts";
import { now } from "../../join/clusterBuilder.ts";
import { budget } from "../guards/guardMoment.ts";
import { type MoveCluster, type MovePod, moveMoment, wants } from "./moveMoment.ts";

const gpusPerNode = 4;

interface Drawn {
  readonly sizes: readonly number[];
  readonly at: readonly number[];
  readonly owner: "ReplicaSet" | "Job" | null;
  readonly priority: number;
  readonly hours: number;
  readonly isProtected: boolean;
  /** The second of its pods waits. */
  readonly isHalf: boolean;
}

const drawn = (nodes: number): fc.Arbitrary<Drawn> =>
  fc.record({
    sizes: fc.array(fc.constantFrom(1, 1, 2, 3), { minLength: 1, maxLength: 2 }),
    at: fc.array(fc.nat(nodes - 1), { minLength: 2, maxLength: 2 }),
    owner: fc.constantFrom("ReplicaSet", "ReplicaSet", "Job", null),
    priority: fc.constantFrom(0, 0, 50, 200),
    hours: fc.integer({ min: 1, max: 50 }),
    isProtected: fc.integer({ min: 0, max: 5 }).map((n) => n === 0),
    isHalf: fc.integer({ min: 0, max: 3 }).map((n) => n === 0),
  });

const pool: NodePoolView = {
  name: "gpu",
  manager: "karpenter",
  limitGpus: null,
  consolidationPolicy: "WhenEmpty",
  consolidateAfterSeconds: 300,
  minNodes: null,
  maxNodes: null,
  capacityTypes: null,
  nodes: 4,
  physicalGpus: 16,
};

/** Pods where there is room for them, some in gangs that may lack a member; something may wait. */
const clusters: fc.Arbitrary<MoveCluster> = fc.integer({ min: 2, max: 5 }).chain((nodes) =>
  fc
    .record({
      work: fc.array(drawn(nodes), { minLength: 1, maxLength: 8 }),
      waiting: fc.array(fc.record({ pods: fc.integer({ min: 1, max: 2 }), gpus: fc.constantFrom(2, 4) }), {
        maxLength: 2,
      }),
      maxMoves: fc.integer({ min: 1, max: 4 }),
      cordoned: fc.option(fc.nat(nodes - 1), { freq: 3, nil: -1 }),
      hasPool: fc.boolean(),
    })
    .map(({ work, waiting, maxMoves, cordoned, hasPool }): MoveCluster => {
      const left = Array.from({ length: nodes }, (): number => gpusPerNode);
      const begun: string[] = [];
      const pods = work.flatMap(({ sizes, at, owner, priority, hours, isProtected, isHalf }, i): MovePod[] => {
        const name = `w${i}`;
        const gpus = sizes[0] ?? 1;
        const places = sizes
          .map((_, n) => at[n] ?? 0)
          .filter((on) => {
            const isFree = (left[on] ?? 0) >= gpus;
            if (isFree) left[on] = (left[on] ?? 0) - gpus;
            return isFree;
          });
        const isPartial = isHalf && owner === "Job" && places.length === 1;
        const gang: GangView | null =
          places.length > 1 || isPartial
            ? { id: `uid-${name}`, min: 2, bound: places.length, partialSince: isPartial ? now - 7200 : null }
            : null;
        const labels = isProtected ? { app: "serve" } : {};
        const all = { of: name, gpus, gang, ownerKind: owner, priority, hours, labels, namespace: "vision" } as const;
        if (isPartial) begun.push(name);
        const allocated = places.map((on, n): MovePod => ({ ...all, name: `${name}-${n}`, node: `n${on}` }));
        return isPartial ? [...allocated, { ...all, name: `${name}-1`, node: null }] : allocated;
      });
      const gangs = begun.map((name) => {
        const own = pods.find((pod) => pod.of === name);
        return wants(name, 1, own?.gpus ?? 1, { bound: 1, min: 2, priority: own?.priority ?? 0 });
      });
      return {
        nodes: left.map((_, i) => ({ name: `n${i}`, gpus: gpusPerNode, nodePool: "gpu", schedulable: i !== cordoned })),
        pods,
        maxMoves,
        waiting: [...gangs, ...waiting.map(({ pods: count, gpus }, i) => wants(`next-${i}`, count, gpus))],
        parts: {
          nodePools: hasPool ? [pool] : [],
          podDisruptionBudgets: [budget(0, { namespace: "vision", matchLabels: { app: "serve" } })],
        },
      };
    }),
);

/** What speaks against carrying a candidate out, asked anew. */
function vetoesOf(moment: AdviceMoment, { plan, disrupted }: Candidate): readonly string[] {
  const { snapshot } = moment.analysis;
  const gang = snapshot.queueing.gangs[plan.starts[0] ?? -1];
  const beneficiary = gang === undefined ? null : { priority: gang.priority, queue: 0 };
  const units = disruptionUnits(moment).filter(({ pods }) => pods.some((pod) => disrupted.includes(pod)));
  const isMove = plan.changes.every(({ kind }) => kind === "move");
  const isLess = disrupted.every((pod) => (snapshot.pods[pod]?.priority ?? 0) < (beneficiary?.priority ?? 0));
  const how = isMove ? "move" : isLess ? "lose" : "release";
  return units.flatMap((unit) =>
    askGuards(moment, {
      pods: unit.pods,
      how,
      by: isMove ? leavesBy(moment, unit) : "requeue",
      beneficiary,
    }).vetoes.map(({ reason }) => reason),
  );
}

describe("whatever is advised to move or to wait again", () => {
  it("breaks no veto, moves gangs whole, places what it moves and gains under both placement rules", () => {
    const seen = new Map<string, number>();
    fc.assert(
      fc.property(clusters, (cluster) => {
        const moment = moveMoment(cluster);
        const { snapshot } = moment.analysis;
        const trial = createTrial(moment);
        const candidates = [allPieces(findDefragment(moment, trial)), findUnblockGang(moment, trial)].flatMap(
          (found) => found.candidates,
        );
        for (const candidate of candidates) {
          const { kind, plan, disrupted, beneficiary, steps, title } = candidate;
          const what = `${kind} ${beneficiary.kind}`;
          seen.set(what, (seen.get(what) ?? 0) + 1);
          expect(vetoesOf(moment, candidate), title).toEqual([]);
          expect(steps.length).toBeGreaterThan(0);
          const moves = plan.changes.filter(({ kind }) => kind !== "removeNode");
          expect(moves.length).toBeLessThanOrEqual(moment.settings.maxMoves);
          const gangs = new Set(disrupted.flatMap((pod) => snapshot.pods[pod]?.gang?.id ?? []));
          const members = snapshot.pods.flatMap((pod, i) =>
            pod.status === "allocated" && gangs.has(pod.gang?.id ?? "") ? [i] : [],
          );
          expect(disrupted).toEqual(expect.arrayContaining(members));
          for (const rule of placementRules) {
            const outcome = trial.outcome(plan, rule);
            expect(outcome.moved.filter(({ to }) => to === null)).toEqual([]);
            expect(candidate.gainedGpus(outcome), title).toBeGreaterThan(0);
          }
        }
      }),
      { numRuns: 400, seed: 5 },
    );
    expect([...seen.keys()].sort()).toEqual(["defragment pool", "defragment workload", "unblock_gang workload"]);
    for (const count of seen.values()) expect(count).toBeGreaterThan(5);
  });
});
