import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Fairness } from "../../../exporter/analysis/fairness/fairness.ts";
import { judgeFairness } from "../../../exporter/analysis/fairness/judgeFairness.ts";
import type { Queueing } from "../../../exporter/join/queues/queueing.ts";
import { sampled } from "../../sampled.ts";
import { moments } from "./generatedMoments.ts";
import { everything, runs } from "./generatedTrees.ts";
import { naiveBound } from "./naiveEntitle.ts";

const near = 1e-5;
const isNear = (a: number, b: number): boolean => Math.abs(a - b) <= near;

/** Most properties are about what was judged of the same moments: each is judged once. */
const judgments = new WeakMap<Queueing, Fairness>();

function judgment(moment: Queueing): Fairness {
  const known = judgments.get(moment);
  if (known !== undefined) return known;
  const fairness = judgeFairness(moment, null);
  judgments.set(moment, fairness);
  return fairness;
}

const everyMoment = sampled(moments(everything), runs, (moment) => moment);

/** Everything that is said of each queue, beside what it is. */
function judged(moment: Queueing, fairness: Fairness = judgment(moment)) {
  return moment.queues.flatMap((queue, index) => {
    const of = fairness.queues[index];
    return of === null || of === undefined ? [] : [{ index, queue, of, isLeaf: queue.children.length === 0 }];
  });
}

/** Everyone is entitled to all that they ask for, and nobody is in anybody's way; what waits, waits beside idle GPUs. */
const isFairToAll = (moment: Queueing): boolean =>
  judged(moment).every(
    ({ queue, of }) =>
      isNear(of.entitled, of.demand) &&
      of.excess === 0 &&
      of.shortfallByOthers === 0 &&
      (queue.pending > 0 || of.deviation === 0),
  );

/** By the definition itself, not by the code under test. */
function fits(moment: Queueing): boolean {
  const nodes = moment.queues.map((queue, id) => ({
    ...queue,
    id,
    isFloor: queue.guaranteeIsFloor ?? false,
    demand: queue.held + queue.pending,
    usage: 0,
  }));
  const demand = nodes.reduce((sum, node) => sum + (node.children.length === 0 ? node.demand : 0), 0);
  return isNear(naiveBound(nodes, moment.domains[0]?.capacity ?? 0), demand);
}

/** The same moment with another capacity. */
const withCapacity = (moment: Queueing, capacity: number): Queueing => ({
  ...moment,
  domains: moment.domains.map((domain) => ({ ...domain, capacity })),
});

const heldIn = (moment: Queueing): number =>
  moment.queues.reduce((sum, queue) => sum + (queue.children.length === 0 ? queue.held : 0), 0);

describe("fairness, over generated moments", () => {
  it("adds up: shortfall - excess = idle gap = entitled - held", () => {
    everyMoment((moment) => {
      const domain = judgment(moment).domains[0];
      if (domain === null || domain === undefined) return false;
      const { shortfall, excess, idleGap, entitled, held } = domain;
      return isNear(shortfall - excess, idleGap) && isNear(entitled - held, idleGap);
    });
  });

  it("splits each shortfall into what others hold and what is idle", () => {
    everyMoment((moment) =>
      judged(moment).every(
        ({ of }) =>
          of.shortfallByOthers >= 0 &&
          of.shortfallByIdleGap >= 0 &&
          isNear(of.shortfallByOthers + of.shortfallByIdleGap, of.shortfall),
      ),
    );
  });

  it("calls no more actionable than is short, and only whole gangs", () => {
    everyMoment((moment) =>
      judged(moment).every(({ of, queue, isLeaf }) => {
        if (of.actionableShortfall > of.shortfall + near) return false;
        const smallest = Math.min(...queue.gangs.map((gang) => moment.gangs[gang]?.gpus ?? Number.NaN));
        return !isLeaf || of.actionableShortfall === 0 || of.actionableShortfall >= smallest - near;
      }),
    );
  });

  it("never calls a queue under-served that has nothing waiting", () => {
    everyMoment((moment) => judged(moment).every(({ queue, of }) => queue.pending > 0 || of.shortfall === 0));
  });

  it("is fair to all when all demand fits and nothing is limited, kept back or without weight", () => {
    fc.assert(fc.property(moments({ priorities: true, floors: true, fits: true }), isFairToAll), runs);
  });

  it("is fair to all when all demand fits within limits, lending limits and weights", () => {
    let seen = 0;
    fc.assert(
      fc.property(moments({ ...everything, fits: true }), (moment) => {
        const wide = withCapacity(moment, heldIn(moment) + 1000);
        if (!fits(wide)) return true;
        seen++;
        return isFairToAll(wide);
      }),
      runs,
    );
    expect(seen).toBeGreaterThan(1000);
  });

  it("finds no deviation at all when all that is asked for is held", () => {
    let seen = 0;
    fc.assert(
      fc.property(moments({ ...everything, idle: true }), (moment) => {
        const wide = withCapacity(moment, heldIn(moment) + 1000);
        if (!fits(wide)) return true;
        seen++;
        return judged(wide).every(({ of }) => of.deviation === 0 && of.shortfall === 0 && of.excess === 0);
      }),
      runs,
    );
    expect(seen).toBeGreaterThan(1000);
  });

  it("is fair to all where nothing waits, whatever is cordoned", () => {
    fc.assert(
      fc.property(moments({ priorities: true, floors: true, idle: true }), (moment) => {
        const { queues } = moment;
        const cordoned = queues.map((queue) => ({ ...queue, heldOnUnschedulable: queue.held }));
        const allHeld = withCapacity(moment, heldIn(moment));
        return isFairToAll(moment) && isFairToAll(allHeld) && isFairToAll({ ...allHeld, queues: cordoned });
      }),
      runs,
    );
  });

  it("judges nobody otherwise when nodes under running work are cordoned", () => {
    everyMoment((moment) => {
      const before = judgment(moment);
      const queues = moment.queues.map((queue) => ({ ...queue, heldOnUnschedulable: queue.held }));
      const after = judgeFairness({ ...moment, queues }, null);
      const isSame = JSON.stringify([after.queues, after.teams]) === JSON.stringify([before.queues, before.teams]);
      return isSame && after.domains[0]?.pairs.length === 0;
    });
  });

  it("is fair to all beside a second scheduler when all demand fits", () => {
    fc.assert(
      fc.property(moments({ priorities: true, floors: true, fits: true, twoSchedulers: true }), isFairToAll),
      runs,
    );
  });

  it("pairs no queue on both sides, and nobody with more than is missing, in excess, or in service", () => {
    everyMoment((moment) => {
      const fairness = judgment(moment);
      const pairs = fairness.domains[0]?.pairs ?? [];
      const sumFor = (side: "starved" | "borrower", queue: number): number =>
        pairs.reduce((sum, pair) => sum + (pair[side] === queue ? pair.gpus : 0), 0);
      const isSorted = pairs.every((pair, i) => pair.gpus > 0 && pair.gpus <= (pairs[i - 1]?.gpus ?? pair.gpus));
      const leaves = judged(moment, fairness).filter(({ isLeaf }) => isLeaf);
      let [short, lendable] = [0, 0];
      for (const { index, queue, of } of leaves) {
        const spare = Math.max(0, of.excess - queue.heldOnUnschedulable);
        short += of.shortfall;
        lendable += spare;
        if (sumFor("starved", index) > of.shortfall + near) return false;
        if (sumFor("borrower", index) > spare + near) return false;
        if (sumFor("starved", index) > 0 && sumFor("borrower", index) > 0) return false;
      }
      const paired = pairs.reduce((sum, { gpus }) => sum + gpus, 0);
      return isSorted && isNear(paired, Math.min(short, lendable));
    });
  });

  it("divides each leaf among its teams to the last GPU, none above what it demands", () => {
    everyMoment((moment) => {
      const fairness = judgment(moment);
      const entitled = fairness.domains[0]?.entitled ?? Number.NaN;
      const ofTeams = fairness.teams.reduce((sum, team) => sum + team.entitled, 0);
      const isWithin = fairness.teams.every(
        (team) => team.entitled <= team.held + team.pending + near && isNear(team.deviation, team.held - team.entitled),
      );
      return isWithin && isNear(ofTeams, entitled);
    });
  });
});
