import { describe, expect, it } from "vitest";
import { assess } from "../../exporter/advice/assess.ts";
import type { Candidate } from "../../exporter/advice/candidate.ts";
import { type AssessedOffer, excludeRivals } from "../../exporter/advice/excludeRivals.ts";
import { findDefragment } from "../../exporter/advice/kinds/defragment.ts";
import type { AdviceMoment } from "../../exporter/advice/moment.ts";
import { allPieces } from "../../exporter/advice/rounds/inPieces.ts";
import { createTrial, type Trial } from "../../exporter/advice/whatIf/trial.ts";
import { budget } from "./guards/guardMoment.ts";
import { type MoveCluster, moveMoment, wants } from "./kinds/moveMoment.ts";

const gpusPerNode = 4;
const unprotected = { podDisruptionBudgets: [] };

/** The candidate with its offer; nothing where it is not worth doing. */
function assessed(moment: AdviceMoment, trial: Trial, candidate: Candidate): readonly AssessedOffer[] {
  const found = assess(moment, trial, candidate);
  return found.ok ? [{ candidate, offer: found.offer }] : [];
}

/** What is worth doing by itself, and what of it is left when all is to be done. */
function rivalsOf(moment: AdviceMoment) {
  const trial = createTrial(moment);
  const offers = allPieces(findDefragment(moment, trial)).candidates.flatMap((candidate) =>
    assessed(moment, trial, candidate),
  );
  const { kept, excluded } = excludeRivals(moment, trial, offers);
  return { trial, offers, kept, excluded };
}

/** Two pieces of work that wait; one pod on the way to the only free place could help either of them. */
const oneWayOut: MoveCluster = {
  nodes: ["n1", "n2", "n3", "n4"].map((name) => ({ name, gpus: gpusPerNode })),
  pods: [
    { name: "a", node: "n1", gpus: 2 },
    { name: "stays-1", node: "n1", gpus: 1, ownerKind: null },
    { name: "b", node: "n2", gpus: 2 },
    { name: "c", node: "n3", gpus: 2 },
    { name: "stays-2", node: "n4", gpus: 4, ownerKind: null },
  ],
  waiting: [wants("three", 1, 3), wants("four", 1, 4)],
  parts: unprotected,
};

describe("plans that take the same free GPUs", () => {
  it("are not given together: the one with the most worth is", () => {
    const { trial, offers, kept, excluded } = rivalsOf(moveMoment(oneWayOut));
    expect(offers.map(({ offer }) => offer.draft.beneficiary.name).sort()).toEqual(["vision/four", "vision/three"]);
    expect(kept.map(({ draft }) => draft.beneficiary.name)).toEqual(["vision/four"]);
    expect(excluded).toMatchObject([{ why: "excluded", subject: "vision/three" }]);
    expect(excluded[0]?.reason).toContain(kept[0]?.draft.id);
    const plans = offers.map(({ candidate }) => candidate.plan);
    const together = {
      changes: plans.flatMap(({ changes }) => changes),
      starts: plans.flatMap(({ starts }) => starts),
    };
    expect(trial.started(together, "mostAllocated")).not.toHaveLength(2);
  });
});

/** The same with more GPUs: what the two gain is nearly the same. */
const nearlyAlike: MoveCluster = {
  nodes: ["n1", "n2", "n3", "n4"].map((name) => ({ name, gpus: 8 })),
  pods: [
    { name: "a", node: "n1", gpus: 4 },
    { name: "stays-1", node: "n1", gpus: 1, ownerKind: null },
    { name: "b", node: "n2", gpus: 4 },
    { name: "c", node: "n3", gpus: 4 },
    { name: "stays-2", node: "n4", gpus: 8, ownerKind: null },
  ],
  waiting: [wants("seven", 1, 7), wants("eight", 1, 8)],
  parts: unprotected,
};

describe("what people see already", () => {
  const plansOf = (offers: readonly AssessedOffer[]) =>
    new Map(offers.map(({ offer: { draft } }) => [draft.beneficiary.name, draft] as const));

  it("keeps its place beside what gains little more, and loses it to what gains a quarter more", () => {
    const beside = (cluster: MoveCluster, name: string) => {
      const moment = moveMoment(cluster);
      const plan = plansOf(rivalsOf(moment).offers).get(name);
      if (plan === undefined) throw new Error(`${name} has no plan`);
      const now = rivalsOf({ ...moment, open: new Map([[plan.id, plan]]) });
      return { kept: now.kept.map(({ draft }) => draft.beneficiary.name), excluded: now.excluded, id: plan.id };
    };
    expect(rivalsOf(moveMoment(nearlyAlike)).kept.map(({ draft }) => draft.beneficiary.name)).toEqual(["vision/eight"]);
    const stays = beside(nearlyAlike, "vision/seven");
    expect(stays).toMatchObject({ kept: ["vision/seven"], excluded: [{ subject: "vision/eight", rival: stays.id }] });
    expect(beside(oneWayOut, "vision/three").kept).toEqual(["vision/four"]);
  });

  it("stays down to half of what new advice must gain", () => {
    const moment = moveMoment(oneWayOut);
    const plan = plansOf(rivalsOf(moment).offers).get("vision/three");
    if (plan === undefined) throw new Error("there is one");
    const gain = plan.effect.gainedGpuHours.worst;
    const isFound = (minGainGpuHours: number, open: AdviceMoment["open"]) =>
      plansOf(
        rivalsOf({
          ...moment,
          settings: { ...moment.settings, minGainGpuHours },
          ...(open === undefined ? {} : { open }),
        }).offers,
      ).has("vision/three");
    const open = new Map([[plan.id, plan]]);
    expect([isFound(gain, undefined), isFound(gain * 1.1, undefined)]).toEqual([true, false]);
    expect([isFound(gain * 1.1, open), isFound(gain * 1.9, open), isFound(gain * 2.1, open)]).toEqual([
      true,
      true,
      false,
    ]);
  });
});

describe("plans whose pods are under one PodDisruptionBudget", () => {
  const work = { namespace: "vision", labels: { app: "serve" } };
  const two: MoveCluster = {
    nodes: ["n1", "n2", "n3", "n4", "n5", "n6"].map((name) => ({ name, gpus: gpusPerNode })),
    pods: [
      { name: "a", node: "n1", gpus: 1, ...work },
      { name: "b", node: "n2", gpus: 1, ...work },
      ...["n3", "n4", "n5", "n6"].map((node) => ({ name: `stays-${node}`, node, gpus: 3, ownerKind: null })),
    ],
    waiting: [wants("one", 1, 4), wants("other", 1, 4, { priority: 200 })],
  };
  const allowing = (allowed: number): AdviceMoment =>
    moveMoment({
      ...two,
      parts: { podDisruptionBudgets: [budget(allowed, { namespace: "vision", matchLabels: { app: "serve" } })] },
    });

  /** Work that asks alike is planned for once: here each of two plans moves one of the pods. */
  function assessedTogether(moment: AdviceMoment) {
    const trial = createTrial(moment);
    const [found] = allPieces(findDefragment(moment, trial)).candidates;
    const own = found?.plan.changes[0];
    if (found === undefined || own?.kind !== "move") throw new Error("no plan");
    const moved = own.pods[0] ?? 0;
    const names = ["a", "b"] as const;
    const other = 1 - moved;
    const moving = (pod: number, starts: readonly number[]): Candidate["plan"] => ({
      changes: [{ kind: "move", pods: [pod], avoid: [pod] }],
      starts,
    });
    const first: Candidate = { ...found, plan: moving(moved, found.plan.starts), gainedGpus: () => 4 };
    const path = (from: string): string => from.replace(`/pods/${names[moved]}/`, `/pods/${names[other]}/`);
    const second: Candidate = {
      ...found,
      beneficiary: { kind: "workload", name: "vision/second" },
      targets: [`Pod vision/${names[other]}`],
      plan: moving(
        other,
        found.plan.starts.map((gang) => 1 - gang),
      ),
      disrupted: [other],
      gainedGpus: () => 4,
      steps: found.steps.map((step) => ({ ...step, request: { ...step.request, path: path(step.request.path) } })),
    };
    const offers = [first, second].flatMap((candidate) => assessed(moment, trial, candidate));
    expect(offers).toHaveLength(2);
    return excludeRivals(moment, trial, offers);
  }

  it("evict no more than it allows, all of them together", () => {
    const { kept, excluded } = assessedTogether(allowing(1));
    expect(kept).toHaveLength(1);
    expect(excluded[0]?.reason).toContain("PodDisruptionBudget vision/serving allows 1 disruptions, and 2");
  });

  it("are not given together either where both act on one node in different ways", () => {
    const moment = allowing(2);
    const trial = createTrial(moment);
    const [found] = allPieces(findDefragment(moment, trial)).candidates;
    if (found === undefined) throw new Error("no plan");
    const apart = { plan: { changes: [], starts: [] }, disrupted: [], steps: [], gainedGpus: () => 4 };
    const candidates: readonly Candidate[] = [
      { ...found, ...apart, kind: "share_gpu", targets: ["Node n1"] },
      { ...found, ...apart, kind: "scale_in", targets: ["Node n1", "Node n2"] },
      { ...found, ...apart, kind: "scale_in", targets: ["Node n3"], beneficiary: { kind: "pool", name: "other" } },
    ];
    const offers = candidates.flatMap((candidate) => assessed(moment, trial, candidate));
    const { kept, excluded } = excludeRivals(moment, trial, offers);
    expect([offers.length, kept.length]).toEqual([3, 2]);
    expect(excluded[0]?.reason).toContain("acts on the same, and gains more");
  });

  it("are all given where it allows them", () => {
    expect(assessedTogether(allowing(2)).kept).toHaveLength(2);
  });
});
