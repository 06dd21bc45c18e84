import { describe, expect, it } from "vitest";
import { compareWithTruth } from "../../cli/demo/compareWithTruth.ts";
import { type PlayedCluster, playCluster } from "../../cli/demo/playCluster.ts";
import type { Analysis } from "../../exporter/analysis/analysis.ts";
import { configSchema } from "../../exporter/config/schema.ts";
import { isInDomain } from "../../exporter/join/queues/domainOfNode.ts";
import { unassigned } from "../../exporter/join/teamOf.ts";
import type { Scenario } from "../../simulator/scenario.ts";
import { generatedScenario } from "../simulator/scenarios/generated.ts";
import { expectClosedAccounts, latest, startAt, sum, tolerance } from "./accounting.ts";
import { expectNothingFell, totalsOnPage } from "./counters.ts";

const nodesPerCluster = 6;
const stepSeconds = 30;
const steps = 70;
/** The invariants are looked at every so many steps; totals at each. */
const lookEvery = 4;

/** Kueue with one and two levels of cohorts, with and without fair sharing; KAI in a shard and without; both plugins of Volcano. */
const seeds = [2, 3, 10, 13, 17, 26, 28, 31, 39];
const clusters = seeds.map((seed) => ({ seed, scenario: generatedScenario(seed, nodesPerCluster) }));

/** What all clusters together must have brought up, so that the comparisons mean something. */
const met = { evictions: 0, short: 0, allFits: 0, unknown: 0, causes: new Set<string>() };

describe.each(clusters)("generated cluster $seed with queues", ({ seed, scenario }) => {
  it("is reported as it is, over half an hour", async () => {
    const cluster = await play(scenario, seed);
    try {
      const evictions = [cluster.simulator.truth().evictions];
      const since = (): number => (evictions.at(-1) ?? 0) - (evictions[0] ?? 0);
      let totals: ReadonlyMap<string, number> = new Map();
      for (let i = 0; i < steps; i++) {
        await cluster.step(i === 0 ? 0 : stepSeconds);
        const now = totalsOnPage(cluster);
        expectNothingFell(totals, now);
        totals = now;
        evictions.push(cluster.simulator.truth().evictions);
        if (i % lookEvery === 0) expectTrueQueues(cluster);
        // One is reported when all its pods have reported it, and counted when its series has been on a page.
        if (evictions.at(-1) === evictions.at(-4))
          expect(totalOnPage(totals, "fairlead_evictions_total"), "evictions").toBe(since());
      }
      met.evictions += since();
      expect(cluster.stack.cycle.health().cycles.failed).toBe(0);
    } finally {
      await cluster.stop();
    }
  });
});

function play(scenario: Scenario, seed: number): Promise<PlayedCluster> {
  const plugin = scenario.queueing.volcano?.plugin ?? "auto";
  const config = configSchema.parse({
    cluster: "generated",
    teams: [{ from: "namespace-label", key: "team" }],
    queues: { volcano: { plugin } },
    // What is compared is who holds what and who is entitled to it: advice would cost as much again.
    advice: { enabled: false },
  });
  return playCluster({ scenario, seed, startAt, config, hurriedApi: true, isApiInOrder: true });
}

function totalOnPage(totals: ReadonlyMap<string, number>, name: string): number {
  return sum([...totals].filter(([key]) => key.startsWith(`${name} `)).map(([, value]) => value));
}

function expectTrueQueues(cluster: PlayedCluster): void {
  const analysis = latest(cluster);
  expectClosedAccounts(analysis);
  const { differences } = compareWithTruth(analysis, cluster.simulator.truth(), unassigned);
  expect(differences.filter(({ what }) => what.includes("queue"))).toEqual([]);
  expectFullDomains(analysis);
  expectFairSums(analysis);
  expectOneCause(analysis);
}

/** Leaves hold what is allocated of the pools, and never more than there is; what is above them is their sum. */
function expectFullDomains({ snapshot }: Analysis): void {
  const { domains, queues } = snapshot.queueing;
  for (const [index, { name, pools, capacity }] of domains.entries()) {
    const leaves = queues.filter(({ domain, isLeaf }) => domain === index && isLeaf);
    const allocated = sum(leaves.map((leaf) => leaf.allocated));
    const here = domains[index] ?? { pools };
    const onGpus = snapshot.devices
      .filter(({ pool, node }) => isInDomain(here, pool, node))
      .flatMap(({ holders }) => holders);
    expect(allocated, `held in ${name}`).toBeCloseTo(sum(onGpus.map(({ share }) => share)), 6);
    expect(allocated, `capacity of ${name}`).toBeLessThanOrEqual(capacity + tolerance);
    for (const leaf of leaves) {
      expect(sum(leaf.teams.map((team) => team.allocated))).toBeCloseTo(leaf.allocated, 6);
      expect(sum(leaf.teams.map((team) => team.pending))).toBeCloseTo(leaf.pending, 6);
    }
  }
  for (const { children, name, allocated, pending } of queues.filter(
    ({ isLeaf, kind }) => !isLeaf || kind === "Scheduler",
  )) {
    const below = children.map((child) => queues[child]);
    expect(sum(below.map((child) => child?.allocated ?? 0)), `held below ${name}`).toBeCloseTo(allocated, 6);
    expect(sum(below.map((child) => child?.pending ?? 0)), `pending below ${name}`).toBeCloseTo(pending, 6);
  }
}

/** Nobody is entitled to more than asked for, nor all to more than there is; where all fits, each is entitled to all. */
function expectFairSums({ snapshot, fairness }: Analysis): void {
  const { domains, queues } = snapshot.queueing;
  for (const [index, { name, capacity, unknownBecause }] of domains.entries()) {
    const judged = fairness.domains[index] ?? null;
    expect(judged === null, `entitlement in ${name}`).toBe(unknownBecause !== null);
    if (judged === null) met.unknown += 1;
    if (judged === null) continue;
    if (judged.excess > 0.5 && judged.shortfall > 0.5) met.short += 1;
    const here = queues.flatMap((view, i) =>
      view.domain === index ? [{ view, fair: fairness.queues[i] ?? null }] : [],
    );
    const leaves = here.filter(({ view }) => view.isLeaf);
    const demand = sum(leaves.map(({ fair }) => fair?.demand ?? 0));
    expect(judged.entitled, `entitled in ${name}`).toBeLessThanOrEqual(Math.min(capacity, demand) + tolerance);
    expect(judged.entitled - judged.allocated).toBeLessThanOrEqual(judged.shortfall - judged.excess + tolerance);
    for (const { view, fair } of leaves) {
      const {
        demand: own = 0,
        entitled = 0,
        shortfall = 0,
        shortfallByBorrowers = 0,
        shortfallByIdleGap = 0,
        shortfallByIndivisible = 0,
        shortfallByAbsentCapacity = [],
      } = fair ?? {};
      const absent = sum(shortfallByAbsentCapacity.map(({ gpus }) => gpus));
      expect(entitled, `entitled ${view.name}`).toBeLessThanOrEqual(Math.max(own, view.allocated) + tolerance);
      expect(shortfallByBorrowers + shortfallByIdleGap + absent + shortfallByIndivisible).toBeCloseTo(shortfall, 6);
    }
    const isFree = here.every(({ view, fair }) => !withholds(view) && (fair?.demand ?? 0) <= view.limit + tolerance);
    if (!isFree) continue;
    expect(judged.entitled, `all is given out in ${name}`).toBeCloseTo(Math.min(capacity, demand), 6);
    if (demand <= capacity) expectAllFits(leaves);
  }
}

/** A leaf and what was judged of it. */
type JudgedLeaf = { readonly view: QueueView; readonly fair: Analysis["fairness"]["queues"][number] };

function expectAllFits(leaves: readonly JudgedLeaf[]): void {
  met.allFits += 1;
  for (const { view, fair } of leaves) {
    expect(fair?.entitled ?? -1, `entitled ${view.name}, where all fits`).toBeCloseTo(fair?.demand ?? 0, 6);
    expect(fair?.deviation ?? -1).toBeCloseTo(view.allocated - (fair?.demand ?? 0), 6);
  }
}

type QueueView = Analysis["snapshot"]["queueing"]["queues"][number];

/** Keeps what it is sure of from others, or takes no surplus. */
function withholds({ lendingLimit, weight, zeroWeight, kind }: QueueView): boolean {
  if (kind === "Unqueued") return false;
  return Number.isFinite(lendingLimit) || (weight === 0 && zeroWeight === "never");
}

function expectOneCause({ snapshot, waiting }: Analysis): void {
  const { gangs } = snapshot.queueing;
  for (const { cause } of waiting.work) met.causes.add(cause);
  const explained = waiting.work.map(({ gang }) => gang);
  expect(explained.toSorted((a, b) => a - b)).toEqual([...gangs.keys()]);
  const known = gangs.filter(({ gpus }) => gpus !== null);
  expect(sum(waiting.queues.flatMap(({ gpus }) => Object.values(gpus)))).toBeCloseTo(
    sum(known.map(({ gpus }) => gpus ?? 0)),
    6,
  );
  const waitingPods = snapshot.pods.filter(({ status }) => status === "pending").length;
  expect(sum(gangs.map(({ pods }) => pods)), "waiting pods").toBeGreaterThanOrEqual(waitingPods);
}

it("has met every system, and two of them at once", () => {
  const systems = clusters.map(({ scenario: { queueing } }) => {
    const { kueue, kai, volcano } = queueing;
    return Object.entries({ kueue, kai, volcano })
      .flatMap(([name, spec]) => (spec === null ? [] : [name]))
      .join("+");
  });
  expect(new Set(systems)).toEqual(new Set(["kueue", "kai", "volcano", "kueue+kai", "kueue+volcano"]));
});

it("has met evictions, shortage, plenty, quotas that are no number of GPUs, and most causes of waiting", () => {
  const { causes, ...amounts } = met;
  for (const [name, amount] of Object.entries(amounts)) expect(amount, name).toBeGreaterThan(0);
  expect([...causes]).toEqual(expect.arrayContaining(["quota", "capacity", "fragmentation"]));
});
