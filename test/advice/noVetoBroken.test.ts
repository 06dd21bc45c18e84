import fc from "fast-check";
import { expect, it } from "vitest";
import { findOffers } from "../../exporter/advice/findOffers.ts";
import type { AdviceMoment } from "../../exporter/advice/moment.ts";
import type { Offer } from "../../exporter/advice/offer.ts";
import type { GangView } from "../../exporter/join/gangView.ts";
import type { NodePoolView } from "../../exporter/join/snapshot.ts";
import { mayBeDisrupted } from "../../exporter/model/disruption.ts";
import { budget } from "./guards/guardMoment.ts";
import { brokenRules } from "./guards/naiveGuards.ts";
import { anyKueueCase } from "./kinds/generatedQueues.ts";
import { kueueMoment } from "./kinds/kueueCluster.ts";
import { type MoveCluster, type MovePod, moveMoment, wants } from "./kinds/moveMoment.ts";

const gpusPerNode = 4;

const traits: readonly Partial<MovePod>[] = [
  ...Array.from({ length: 12 }, () => ({})),
  { ownerKind: null },
  { owner: { apiVersion: "apps/v1", kind: "DaemonSet", name: "agent", uid: "uid-agent" } },
  { disruption: { ...mayBeDisrupted, isStatic: true } },
  { disruption: { ...mayBeDisrupted, hasLocalStorage: true } },
  { disruption: { ...mayBeDisrupted, forbiddenBy: "karpenter.sh/do-not-disrupt" } },
  { estimated: true },
  { uid: null },
  { labels: { app: "serve" } },
  { labels: { app: "serve", tier: "front" } },
];

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

/** Pods of every sort on a few nodes, some of them in pairs that run together, and work that waits. */
const clusters: fc.Arbitrary<MoveCluster> = fc
  .record({
    nodes: fc.integer({ min: 2, max: 6 }),
    work: fc.array(
      fc.record({
        at: fc.tuple(fc.nat(5), fc.nat(5)),
        gpus: fc.constantFrom(1, 1, 2, 3),
        isPair: fc.constantFrom(false, false, true),
        isJob: fc.boolean(),
        trait: fc.constantFrom(...traits),
        priority: fc.constantFrom(0, 0, 100, 200),
      }),
      { minLength: 2, maxLength: 10 },
    ),
    waiting: fc.array(fc.tuple(fc.constantFrom(1, 1, 2), fc.constantFrom(2, 3, 4)), { maxLength: 3 }),
    allowed: fc.integer({ min: 0, max: 2 }),
    maxMoves: fc.integer({ min: 1, max: 5 }),
  })
  .map(({ nodes, work, waiting, allowed, maxMoves }): MoveCluster => {
    const left = Array.from({ length: nodes }, (): number => gpusPerNode);
    const pods = work.flatMap(({ at, gpus, isPair, isJob, trait, priority }, i): MovePod[] => {
      const places = (isPair ? at : at.slice(0, 1)).flatMap((place) => {
        const node = place % nodes;
        if ((left[node] ?? 0) < gpus) return [];
        left[node] = (left[node] ?? 0) - gpus;
        return [node];
      });
      const gang: GangView | null =
        places.length > 1 ? { id: `gang-${i}`, min: 2, bound: 2, partialSince: null } : null;
      const ownerKind = isJob ? ("Job" as const) : ("ReplicaSet" as const);
      return places.map((node, n) => ({
        name: `w${i}-${n}`,
        of: `w${i}`,
        node: `n${node}`,
        gpus,
        gang,
        priority,
        ownerKind,
        hours: 1 + (i % 7),
        // The members of a gang may differ.
        ...(n === 0 ? trait : {}),
      }));
    });
    return {
      nodes: left.map((_, i) => ({ name: `n${i}`, gpus: gpusPerNode, nodePool: "gpu" })),
      pods,
      maxMoves,
      waiting: waiting.map(([count, gpus], i) => wants(`next-${i}`, count, gpus)),
      parts: {
        nodePools: [pool],
        podDisruptionBudgets: [
          budget(allowed, { namespace: "ads", matchLabels: { app: "serve" } }),
          budget(1, { namespace: "ads", name: "front", matchLabels: { tier: "front" } }),
        ],
      },
    };
  });

/** What speaks against the pods that advice takes off their nodes, whoever gains by it; found without an index. */
function brokenBy({ analysis }: AdviceMoment, { draft, disrupted }: Offer): readonly string[] {
  const { snapshot } = analysis;
  const pods = disrupted.map(({ uid }) => snapshot.pods.findIndex((pod) => pod.uid === uid));
  const isEvicted = draft.steps.some(({ request }) => request.path.endsWith("/eviction"));
  return brokenRules(snapshot, { pods, how: "release", by: isEvicted ? "eviction" : "scale", beneficiary: null });
}

it("nothing that is offered takes pods that may not be taken, alone or with all else that is offered", () => {
  const seen = new Map<string, number>();
  const moments = fc.oneof(clusters.map(moveMoment), anyKueueCase.map(kueueMoment));
  fc.assert(
    fc.property(moments, (moment) => {
      const { offers } = findOffers(moment);
      for (const offer of offers) {
        seen.set(offer.draft.kind, (seen.get(offer.draft.kind) ?? 0) + 1);
        expect(brokenBy(moment, offer), offer.draft.title).toEqual([]);
        expect(offer.draft.cost.pods, offer.draft.title).toBe(offer.disrupted.length);
        expect(offer.draft.worthGpuHours, offer.draft.title).toBeGreaterThan(0);
        expect(offer.draft.effect.gainedGpuHours.worst).toBeGreaterThanOrEqual(
          2 * offer.draft.cost.lostGpuHours - 1e-9,
        );
      }
      const taken = offers.flatMap(({ disrupted }) => disrupted.map(({ uid }) => uid));
      expect(new Set(taken).size).toBe(taken.length);
      expect(new Set(offers.map(({ draft }) => draft.id)).size).toBe(offers.length);
    }),
    { numRuns: 800, seed: 11 },
  );
  for (const kind of ["defragment", "reclaim", "fix_scheduler"]) expect(seen.get(kind) ?? 0, kind).toBeGreaterThan(1);
});
