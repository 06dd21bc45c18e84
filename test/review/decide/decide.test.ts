import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decide, mostDecisions } from "../../../review/decide/decide.ts";
import type { Review } from "../../../review/document/review.ts";
import { arbitraryReview } from "../arbitraryReview.ts";
import { hostileReview } from "../hostileReview.ts";
import { sampleReview as sample } from "../sampleReview.ts";
import { fromPrometheus, merged, ofOneTeam, twoCurrencies } from "../variantReviews.ts";

/** The sample, whose advice to close nodes is about the pool of these nodes. */
const sampleReview: Review = {
  ...sample,
  actions: (sample.actions ?? []).map((one) => (one.kind === "scale_in" ? { ...one, pool: "A100" } : one)),
};
const kindsOf = (review: Review) => decide(review).decisions.map(({ kind }) => kind);
const [h100, ...otherDemand] = sampleReview.demand ?? [];
if (h100 === undefined) throw new Error("no sample");

/** Enough for everyone: nobody asks for more than there is, and nobody waits. */
const calm: Review = {
  ...sampleReview,
  demand: [{ ...h100, p95DemandGpus: 60 }, ...otherDemand],
  waits: null,
  teams: sampleReview.teams.map((team) => ({ ...team, waits: null })),
};

/** What every answer must be, whatever the review says. */
function expectSound(review: Review): void {
  const { decisions, undecided } = decide(review);
  expect(decisions.length).toBeLessThanOrEqual(mostDecisions);
  expect(JSON.stringify(decisions)).toBe(JSON.stringify(decide(review).decisions));
  for (const { evidence, worth } of decisions)
    for (const value of [
      ...evidence.map((one) => one.value),
      ...Object.values(worth.moneyPerWeek ?? {}),
      worth.lostGpuHours,
      worth.waitingGpuHours,
    ])
      expect(value === null || Number.isFinite(value)).toBe(true);
  const said = [...decisions.map(({ coversLoss }) => coversLoss), ...undecided.map(({ loss }) => loss)];
  const losses = review.waterfall.flatMap(({ drops }) => drops).filter(({ gpuHours }) => gpuHours > 0);
  const largest = losses.toSorted((one, other) => other.gpuHours - one.gpuHours).slice(0, 3);
  for (const { gpuHours } of largest) expect(said.some((loss) => loss?.gpuHours === gpuHours)).toBe(true);
}

describe("decisions", () => {
  test.each([
    ["the sample", sampleReview],
    ["two currencies", twoCurrencies],
    ["one team", ofOneTeam],
    ["a metrics server", fromPrometheus],
    ["merged", merged],
    ["hostile names", hostileReview],
  ] as const)("are at most five, and each large loss has one or a reason: %s", (_name, review) => expectSound(review));

  test("so of any review, whatever the order of its lists", () => {
    fc.assert(
      fc.property(arbitraryReview, (review) => {
        expectSound(review);
        const turned: Review = {
          ...review,
          waterfall: review.waterfall.toReversed(),
          teams: review.teams.toReversed(),
          demand: review.demand?.toReversed() ?? null,
          actions: review.actions?.toReversed() ?? null,
          fragmentation: review.fragmentation?.toReversed() ?? null,
        };
        expect(decide(turned).decisions).toEqual(decide(review).decisions);
      }),
      { seed: 23, numRuns: 200 },
    );
  });

  test("demand for 200 of 128 GPUs is one to buy, rent or share otherwise, though waiting work has no price", () => {
    const demand = [{ ...h100, p95DemandGpus: 200, meanCapacityGpus: 128, steps: [] }];
    const { decisions } = decide({ ...calm, demand });
    expect(decisions.find(({ kind }) => kind === "buy-or-rent")).toMatchObject({
      evidence: [{ value: 200 }, { value: 128 }, { value: 14.2 }, { value: 41.5 }],
      worth: { waitingGpuHours: null, moneyPerWeek: null },
    });
    // Advice to close nodes of the pool stands: what waits is kept from them, and nothing is bought.
    const [action] = sampleReview.actions ?? [];
    if (action === undefined) throw new Error("no sample");
    const closing: Review = { ...calm, demand, actions: [{ ...action, kind: "scale_in", pool: "H100" }] };
    expect(kindsOf(closing)).not.toContain("buy-or-rent");
    expect(kindsOf(closing)).toContain("shift-quota");
    // Advice that has expired stands for nothing.
    const expired: Review = { ...closing, actions: [{ ...action, kind: "scale_in", pool: "H100", state: "expired" }] };
    expect(kindsOf(expired)).toContain("buy-or-rent");
    // Nor does someone who waits long take its place.
    const titles = decide(sample).decisions.map(({ title }) => title);
    expect(titles).toContain("Let waiting work use the idle nodes of H100");
    expect(titles).toContain("Give back the share of search");
  });

  test("a team that waits 19.5 h has one", () => {
    const byQueue = [
      { queue: "ads", sizeClass: null, priorityClass: null, count: 3, p50Seconds: 60, p95Seconds: 70_200, buckets: [] },
    ];
    const review: Review = { ...calm, actions: [], waits: { bySize: [], byQueue } };
    const found = decide(review).decisions.find(({ kind }) => kind === "shift-quota");
    expect(found?.title).toContain("ads");
    expect(found?.evidence[0]).toEqual({ name: "p95 wait of ads", unit: "s", value: 70_200 });
    // A recommendation already takes GPUs from it: no decision says the opposite, and the reason is said.
    const { decisions, undecided } = decide({ ...review, actions: sampleReview.actions });
    expect(decisions.map(({ kind }) => kind)).not.toContain("shift-quota");
    expect(undecided.some(({ reason }) => reason.startsWith("ads waits long"))).toBe(true);
  });

  test("idle nodes for which nobody waits are closed, and nothing is bought", () => {
    expect(kindsOf(calm)).toContain("close-nodes");
    expect(kindsOf(calm)).not.toContain("buy-or-rent");
  });

  test("nodes of a pool that is short are not closed beside a purchase", () => {
    const waterfall = sampleReview.waterfall.map((stage) => ({
      ...stage,
      drops: stage.drops.filter(({ state }) => state === "idle_node"),
    }));
    const closed = decide({ ...sampleReview, waterfall }).decisions.find(({ kind }) => kind === "close-nodes");
    expect(kindsOf({ ...sampleReview, waterfall })).toContain("buy-or-rent");
    expect(closed?.evidence.map(({ name }) => name)).toEqual(["idle nodes of a100-spot"]);
  });

  test("closing reserved or warm nodes saves nothing: there is a reason and no decision", () => {
    const [pool] = sampleReview.idleNodes?.pools ?? [];
    const [reserved] = sampleReview.notAdvised ?? [];
    if (pool === undefined || reserved === undefined) throw new Error("no sample");
    const only = (state: string): Review => ({
      ...calm,
      idleNodes: { pools: [{ ...pool, nodePool: "a100-reserved", state }], streaks: [] },
    });
    for (const [state, reason] of [
      ["idle_unallocated", reserved.reason],
      ["warm_unallocated", "Its nodes are kept ready on purpose, or none was idle as a whole."],
    ] as const) {
      const { decisions, undecided } = decide(only(state));
      expect(decisions.map(({ kind }) => kind)).not.toContain("close-nodes");
      expect(undecided.find(({ loss }) => loss?.state === "idle_node")?.reason).toBe(reason);
    }
  });

  test("without prices the most GPU-hours come first; a day that is not covered has no money of a week", () => {
    const free: Review = {
      ...sampleReview,
      waterfall: sampleReview.waterfall.map((stage) => ({
        ...stage,
        costs: {},
        drops: stage.drops.map((drop) => ({ ...drop, costs: {} })),
      })),
    };
    const [first] = decide({ ...free, demand: [] }).decisions;
    expect(first).toMatchObject({ kind: "right-size", worth: { moneyPerWeek: null, lostGpuHours: 3_900 } });
    const short: Review = { ...sampleReview, coverage: { ...sampleReview.coverage, coveredSeconds: 3600 } };
    for (const { worth } of decide(short).decisions) expect(worth.moneyPerWeek).toBeNull();
  });
});

test("reserved capacity is no node to close, also where no advice was withheld: the ledger says how nodes are paid for", () => {
  const pool = { cluster: "harbor", nodePool: "a100", pool: "A100", state: "idle_unallocated", nodeHours: 120 };
  const drop = { state: "idle_node", isAllocated: false, gpuHours: 960, costs: { USD: 4000 } } as const;
  const reviewWith = (reservedNodeHours: number, reservedCosts: Record<string, number>): Review => ({
    ...calm,
    actions: [],
    notAdvised: [],
    idleNodes: { pools: [{ ...pool, costs: { USD: 4000 }, reservedNodeHours, reservedCosts }], streaks: [] },
    waterfall: calm.waterfall.map((stage) => ({
      ...stage,
      drops: stage.drops.map((one) => (one.state === "idle_node" ? { ...one, ...drop } : one)),
    })),
  });
  const closing = (review: Review) => decide(review).decisions.find(({ kind }) => kind === "close-nodes");
  const whole = closing(reviewWith(0, {}))?.worth.moneyPerWeek?.USD ?? 0;
  expect(whole).toBeGreaterThan(0);
  expect(closing(reviewWith(60, { USD: 1000 }))?.worth.moneyPerWeek?.USD).toBeCloseTo((whole * 3) / 4, 6);
  expect(closing(reviewWith(60, { USD: 1000 }))?.evidence.map(({ value }) => value)).toEqual([60, 60]);
  expect(closing(reviewWith(120, { USD: 4000 }))).toBeUndefined();
  expect(decide(reviewWith(120, { USD: 4000 })).undecided.map(({ reason }) => reason)).toContain(
    "Its nodes are reserved capacity, which is paid for whether they run or not.",
  );
});
