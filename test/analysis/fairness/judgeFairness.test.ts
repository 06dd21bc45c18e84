import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Fairness, QueueFairness } from "../../../exporter/analysis/fairness/fairness.ts";
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

const sum = (amounts: readonly number[]): number => amounts.reduce((a, b) => a + b, 0);
const absentOf = ({ shortfallByAbsentCapacity }: QueueFairness): number =>
  sum(shortfallByAbsentCapacity.map(({ gpus }) => gpus));

const everyMoment = sampled(moments(everything), runs, (moment) => moment);

/** Everything that is said about each queue, beside what it is. */
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
      of.shortfallByBorrowers === 0 &&
      (queue.pending > 0 || of.deviation === 0),
  );

/** By the definition itself, not by the code under test. */
function fits(moment: Queueing): boolean {
  const nodes = moment.queues.map((queue, id) => ({
    ...queue,
    id,
    isFloor: queue.guaranteeIsFloor ?? false,
    demand: queue.allocated + queue.pending,
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

const allocatedIn = (moment: Queueing): number =>
  moment.queues.reduce((sum, queue) => sum + (queue.children.length === 0 ? queue.allocated : 0), 0);

describe("fairness, over generated moments", () => {
  it("adds up: entitled - held is at most shortfall - excess, and that where every guarantee has its nodes", () => {
    everyMoment((moment) => {
      const domain = judgment(moment).domains[0];
      if (domain === null || domain === undefined) return false;
      const { shortfall, excess, entitled, allocated } = domain;
      const isWhole = judged(moment).every(
        ({ of, queue }) => of.entitled >= Math.min(queue.guaranteed, queue.limit, of.demand) - near,
      );
      const gap = shortfall - excess;
      return entitled - allocated <= gap + near && (!isWhole || isNear(entitled - allocated, gap));
    });
  });

  it("divides each shortfall into its four causes, none of them negative", () => {
    everyMoment((moment) =>
      judged(moment).every(({ of }) => {
        const causes = [of.shortfallByIdleGap, of.shortfallByBorrowers, absentOf(of), of.shortfallByIndivisible];
        return causes.every((gpus) => gpus >= 0) && isNear(sum(causes), of.shortfall);
      }),
    );
  });

  it("gives out what the nodes in service can carry, as far as demand reaches", () => {
    everyMoment((moment) => {
      const [domain] = moment.domains;
      const inService =
        (domain?.capacity ?? 0) -
        sum(moment.queues.map((queue) => (queue.isLeaf ? queue.allocatedOnUnschedulable : 0)));
      const leaves = judged(moment).filter(({ isLeaf }) => isLeaf);
      const given = sum(leaves.map(({ of, queue }) => of.entitled - queue.allocatedOnUnschedulable));
      return given <= Math.max(0, inService) + near;
    });
  });

  it("never calls a leaf over-served that holds no more than its guarantee, and pairs nobody with it", () => {
    fc.assert(
      fc.property(moments({ priorities: true, zeroWeights: true, floors: true }), (moment) => {
        const pairs = judgment(moment).domains[0]?.pairs ?? [];
        return judged(moment).every(({ queue, of, index }) => {
          const isTop = moment.queues[queue.parent ?? -1]?.kind === "Scheduler";
          if (queue.children.length > 0 || !isTop || queue.allocated > queue.guaranteed) return true;
          return of.excess === 0 && pairs.every(({ borrower }) => borrower !== index);
        });
      }),
      runs,
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
        const wide = withCapacity(moment, allocatedIn(moment) + 1000);
        if (!fits(wide)) return true;
        seen++;
        return isFairToAll(wide);
      }),
      runs,
    );
    expect(seen).toBeGreaterThan(1000);
  });

  it("finds no deviation at all when all that is asked for is allocated", () => {
    let seen = 0;
    fc.assert(
      fc.property(moments({ ...everything, idle: true }), (moment) => {
        const wide = withCapacity(moment, allocatedIn(moment) + 1000);
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
        const cordoned = queues.map((queue) => ({ ...queue, allocatedOnUnschedulable: queue.allocated }));
        const allAllocated = withCapacity(moment, allocatedIn(moment));
        return isFairToAll(moment) && isFairToAll(allAllocated) && isFairToAll({ ...allAllocated, queues: cordoned });
      }),
      runs,
    );
  });

  it("blames nobody when all running work is on nodes out of service: they keep it, and owe it to nobody", () => {
    everyMoment((moment) => {
      const queues = moment.queues.map((queue) => ({ ...queue, allocatedOnUnschedulable: queue.allocated }));
      const domains = moment.domains.map((domain) => ({ ...domain, allocatedOnUnschedulable: allocatedIn(moment) }));
      const cordoned = { ...moment, queues, domains };
      const after = judgeFairness(cordoned, null);
      return (
        after.domains[0]?.pairs.length === 0 &&
        judged(cordoned, after).every(({ of, queue }) => of.excess === 0 && of.entitled >= queue.allocated - near)
      );
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
      for (const { index, of } of leaves) {
        const [takes, gives] = [sumFor("starved", index), sumFor("borrower", index)];
        if (takes > of.shortfallByBorrowers + near || gives > of.excess + near) return false;
        if (takes > 0 && gives > 0) return false;
        // Nobody is asked for what is free, or for what starts no whole gang.
        const needed = Math.max(0, of.actionableShortfall - of.shortfallByIdleGap);
        if (!isNear(takes, needed)) return false;
      }
      return isSorted;
    });
  });

  it("divides each leaf among its teams to the last GPU, none above what it demands", () => {
    everyMoment((moment) => {
      const fairness = judgment(moment);
      const entitled = fairness.domains[0]?.entitled ?? Number.NaN;
      const ofTeams = fairness.teams.reduce((sum, team) => sum + team.entitled, 0);
      const isWithin = fairness.teams.every(
        (team) =>
          team.entitled <= team.allocated + team.pending + near &&
          isNear(team.deviation, team.allocated - team.entitled),
      );
      return isWithin && isNear(ofTeams, entitled);
    });
  });
});
