import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Candidate } from "../../../exporter/advice/candidate.ts";
import { disruptionUnits } from "../../../exporter/advice/disruptionUnits.ts";
import { askGuards, type GuardQuestion } from "../../../exporter/advice/guards/guards.ts";
import { findChangeQuota } from "../../../exporter/advice/kinds/changeQuota.ts";
import { findFixScheduler } from "../../../exporter/advice/kinds/fixScheduler.ts";
import { findReclaim } from "../../../exporter/advice/kinds/reclaim.ts";
import type { AdviceMoment } from "../../../exporter/advice/moment.ts";
import { allPieces } from "../../../exporter/advice/rounds/inPieces.ts";
import { placementRules } from "../../../exporter/advice/whatIf/plan.ts";
import { createTrial, type Trial } from "../../../exporter/advice/whatIf/trial.ts";
import { brokenRules } from "../guards/naiveGuards.ts";
import { anyKueueCase } from "./generatedQueues.ts";
import { foundBy, gainsOf, kueueMoment } from "./kueueCluster.ts";

const seed = 21;

function* allSets(items: readonly number[]): Generator<readonly number[]> {
  for (let bits = 1; bits < 2 ** items.length; bits++) yield items.filter((_, i) => (bits & (2 ** i)) !== 0);
}

const stopped = ({ plan }: Candidate): readonly number[] =>
  plan.changes.flatMap((change) => (change.kind === "stop" ? [change.workload] : []));

/** What the guards are asked about a plan that stops work. */
function questionOf(
  { analysis }: AdviceMoment,
  { plan, beneficiary }: Candidate,
  pods: readonly number[],
): GuardQuestion {
  const { gangs, queues } = analysis.snapshot.queueing;
  const priority = Math.min(...plan.starts.map((gang) => gangs[gang]?.priority ?? 0));
  const gpus = plan.starts.reduce((sum, gang) => sum + (gangs[gang]?.gpus ?? 0), 0);
  const queue = queues.findIndex(({ name, isLeaf }) => isLeaf && name === beneficiary.name);
  return { pods, how: "lose", by: "requeue", beneficiary: { priority, queue, gpus } };
}

/** The queues that hold what the beneficiary is owed: nobody else is asked. */
function borrowersFor({ analysis }: AdviceMoment, { beneficiary }: Candidate): ReadonlySet<number> {
  const { queues } = analysis.snapshot.queueing;
  const pairs = analysis.fairness.domains.flatMap((domain) => domain?.pairs ?? []);
  return new Set(
    pairs.filter(({ starved }) => queues[starved]?.name === beneficiary.name).map(({ borrower }) => borrower),
  );
}

/** GPU-hours lost and GPUs taken with some workloads; `null` where they may not be taken, or nothing starts. */
function costOfSet(moment: AdviceMoment, trial: Trial, candidate: Candidate, set: readonly number[]) {
  const units = disruptionUnits(moment).filter(({ workload }) => set.includes(workload));
  const pods = units.flatMap((unit) => unit.pods);
  if (askGuards(moment, questionOf(moment, candidate, pods)).vetoes.length > 0) return null;
  const { starts } = candidate.plan;
  const plan = { changes: set.map((workload) => ({ kind: "stop" as const, workload })), starts };
  if (!placementRules.every((rule) => trial.started(plan, rule).length === starts.length)) return null;
  return {
    lost: units.reduce((sum, unit) => sum + unit.lostGpuHours, 0),
    gpus: units.reduce((sum, unit) => sum + unit.gpus, 0),
  };
}

describe("in generated clusters of Kueue", () => {
  it("what is to be given back breaks no rule, starts all that it says, and no cheaper work would do", () => {
    let offered = 0;
    fc.assert(
      fc.property(anyKueueCase, (given) => {
        const moment = kueueMoment(given);
        const trial = createTrial(moment);
        const { snapshot } = moment.analysis;
        for (const candidate of allPieces(findReclaim(moment, trial)).candidates) {
          offered += 1;
          const victims = stopped(candidate);
          expect(brokenRules(snapshot, questionOf(moment, candidate, candidate.disrupted))).toEqual([]);
          expect(victims.length).toBeLessThanOrEqual(moment.settings.maxMoves);
          expect([...candidate.disrupted]).toEqual(
            victims.flatMap((workload) => snapshot.workloads[workload]?.pods ?? []),
          );
          const own = costOfSet(moment, trial, candidate, victims);
          expect(own).not.toBeNull();
          const gains = gainsOf(moment, candidate);
          expect(Math.min(gains.leastAllocated, gains.mostAllocated)).toBeGreaterThan(0);
          const borrowers = borrowersFor(moment, candidate);
          const others = snapshot.workloads.flatMap(({ pods }, i) =>
            pods.some((pod) => borrowers.has(snapshot.queueing.queueOfPod[pod] ?? -1)) ? [i] : [],
          );
          for (const set of allSets(others)) {
            const cost = set.length > moment.settings.maxMoves ? null : costOfSet(moment, trial, candidate, set);
            if (cost === null || own === null || cost.gpus > own.gpus) continue;
            expect(cost.lost).toBeGreaterThanOrEqual(own.lost - 1e-9);
          }
        }
      }),
      { numRuns: 240, seed },
    );
    expect(offered).toBeGreaterThan(15);
  });

  it("what is to be changed in queues gains what it says, and takes from nobody who is protected", () => {
    const offered = { change_quota: 0, fix_scheduler: 0 };
    fc.assert(
      fc.property(anyKueueCase, (given) => {
        const moment = kueueMoment(given);
        for (const candidate of foundBy(findChangeQuota, moment).candidates) {
          offered.change_quota += 1;
          expect(candidate.disrupted).toEqual([]);
          const { leastAllocated, mostAllocated } = gainsOf(moment, candidate);
          expect(Math.min(leastAllocated, mostAllocated)).toBeGreaterThan(0);
        }
        for (const candidate of foundBy(findFixScheduler, moment).candidates) {
          offered.fix_scheduler += 1;
          const question = { ...questionOf(moment, candidate, candidate.disrupted), how: "release" as const };
          expect(brokenRules(moment.analysis.snapshot, question)).toEqual([]);
          const { leastAllocated, mostAllocated } = gainsOf(moment, candidate);
          expect(Math.min(leastAllocated, mostAllocated)).toBeGreaterThan(0);
        }
      }),
      { numRuns: 200, seed },
    );
    expect(offered.fix_scheduler).toBeGreaterThan(3);
  });

  it("the order in which queues and work are listed changes no advice", () => {
    fc.assert(
      fc.property(anyKueueCase, (given) => {
        const titles = (find: typeof findReclaim, one: typeof given) =>
          foundBy(find, kueueMoment(one)).candidates.map(({ title }) => title);
        const turned = { ...given, queues: [...given.queues].reverse(), running: [...(given.running ?? [])].reverse() };
        expect(titles(findReclaim, turned)).toEqual(titles(findReclaim, given));
      }),
      { numRuns: 40, seed },
    );
  });
});
