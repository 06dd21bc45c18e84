import { describe, expect, test } from "vitest";
import type { Analysis } from "../../exporter/analysis/analysis.ts";
import { judgeFairness } from "../../exporter/analysis/fairness/judgeFairness.ts";
import { buildFamilies } from "../../exporter/publish/families.ts";
import { renderPage } from "../../exporter/publish/prometheus/render.ts";
import { domainFairness } from "../queues/judged.ts";
import { health, hostileNames } from "./moment.ts";
import { queue, queueMoment, queueTotals } from "./queueMoment.ts";
import { type PageSample, readPage } from "./readPage.ts";

const wide = { teams: 1000, series: 50_000 };

function pageOf(analysis: Analysis, limits = wide): PageSample[] {
  return readPage(renderPage(buildFamilies({ analysis, health: health(), limits }).families).toString("utf8"));
}

const of = (samples: readonly PageSample[], name: string, labels: Readonly<Record<string, string>> = {}) =>
  samples.filter(
    (sample) =>
      sample.name === name && Object.entries(labels).every(([label, value]) => sample.labels.get(label) === value),
  );
const sumOf = (samples: readonly PageSample[], name: string) =>
  of(samples, name).reduce((sum, sample) => sum + sample.value, 0);

/** A moment with so many leaf queues of one domain, all waiting; queue `n` holds and waits for `n` GPUs. */
function manyQueues(names: readonly string[]): Analysis {
  const leaves = names.map((name, i) =>
    queue({ name, team: name, allocated: i, pending: i, reserved: i, limit: 1000, weight: 1 }),
  );
  return {
    ...queueMoment,
    snapshot: {
      ...queueMoment.snapshot,
      queueing: { ...queueMoment.snapshot.queueing, queues: leaves },
    },
    fairness: {
      queues: names.map((_, i) => ({
        demand: 2 * i,
        entitled: 2 * i,
        deviation: -i,
        shortfall: i,
        excess: 0,
        shortfallByBorrowers: i / 4,
        shortfallByIdleGap: (3 * i) / 4,
        shortfallByAbsentCapacity: [],
        shortfallByIndivisible: 0,
        heldBackBy: null,
        actionableShortfall: i,
      })),
      domains: [
        domainFairness({ pairs: names.slice(1).map((_, i) => ({ starved: i + 1, borrower: 0, gpus: i + 1 })) }),
        null,
        null,
      ],
      teams: names.map((team, i) => ({ team, domain: 0, allocated: i, pending: i, entitled: 2 * i, deviation: -i })),
    },
    waiting: {
      ...queueMoment.waiting,
      queues: names.map((_, i) => ({
        queue: i,
        domain: 0,
        priorityClass: "normal",
        gangs: 1,
        gpus: { capacity: i, quota: 1 },
        oldestSeconds: 100 + i,
        meanGpuAgeSeconds: 100,
        ageBuckets: Array.from({ length: 15 }, () => 1),
        late: 1,
      })),
    },
    schedulerViews: names.map((name) => ({
      scheduler: "kueue",
      number: "kueue-weighted-share",
      kind: "ClusterQueue",
      name,
      shard: "",
      computed: 1,
      reported: null,
    })),
  };
}

const numbered = (count: number) => Array.from({ length: count }, (_, i) => `q${i}`);

describe("the moment of the tests", () => {
  test("is what the analysis makes of its queues", () => {
    expect(judgeFairness(queueMoment.snapshot.queueing, null)).toEqual(queueMoment.fairness);
  });
});

describe("queues on the page", () => {
  const samples = pageOf(queueMoment);

  test("only leaves have series, so that sums count every GPU once", () => {
    expect(sumOf(samples, "fairlead_queue_allocated_gpus")).toBe(103);
    expect(of(samples, "fairlead_queue_allocated_gpus", { queue: "ml-org" })).toEqual([]);
  });

  test("deviation is allocated minus entitled, and the shortfall is divided by cause", () => {
    const allocated = of(samples, "fairlead_queue_allocated_gpus", { queue: "search", domain: "H100" })[0]?.value;
    const entitled = of(samples, "fairlead_queue_entitled_gpus", { queue: "search", domain: "H100" })[0]?.value;
    expect([allocated, entitled]).toEqual([31, 47]);
    expect(of(samples, "fairlead_fairness_deviation_gpus", { queue: "search", domain: "H100" })[0]?.value).toBe(-16);
    expect(
      of(samples, "fairlead_queue_shortfall_gpus", { queue: "search", domain: "H100" }).map((one) => [
        one.labels.get("cause"),
        one.value,
      ]),
    ).toEqual([
      ["absent_capacity", 0],
      ["by_others", 16],
      ["idle_gap", 0],
      ["indivisible", 0],
    ]);
  });

  test("what would be taken of a queue is what its pairs move; nothing of others", () => {
    const taken = of(samples, "fairlead_queue_reclaimable_gpus", { domain: "H100" });
    expect(taken.map((one) => [one.labels.get("queue"), one.value])).toEqual([
      ["ads", 16],
      ["search", 0],
      ["vision", 0],
    ]);
  });

  test("what a setting holds back is in series of its own, and would be taken of nobody", () => {
    const { fairness } = queueMoment;
    const heldBack = [{ starved: 2, borrower: 3, gpus: 16, because: "reclaimWithinCohort is Never" }];
    const domains = fairness.domains.map((one) => (one === null ? null : { ...one, pairs: [], heldBack }));
    const kept = pageOf({ ...queueMoment, fairness: { ...fairness, domains: [domains[0] ?? null, null, null] } });
    expect(of(kept, "fairlead_fairness_pair_gpus", {})).toEqual([]);
    expect(of(kept, "fairlead_fairness_held_back_gpus", { starved_queue: "search" })).toMatchObject([{ value: 16 }]);
    expect(sumOf(kept, "fairlead_queue_reclaimable_gpus")).toBe(0);
  });

  test("a guarantee without nodes has an owner, and deviates by nothing", () => {
    const { fairness } = queueMoment;
    const absent = [
      { owner: "lost_node" as const, gpus: 10 },
      { owner: "past_queues" as const, gpus: 6 },
    ];
    const queues = fairness.queues.map((one, i) =>
      i === 2 && one !== null
        ? { ...one, deviation: 0, entitled: 31, shortfallByBorrowers: 0, shortfallByAbsentCapacity: absent }
        : one,
    );
    const lost = pageOf({ ...queueMoment, fairness: { ...fairness, queues } });
    expect(of(lost, "fairlead_queue_shortfall_gpus", { queue: "search", domain: "H100" })[0]?.value).toBe(16);
    const byOwner = of(lost, "fairlead_fairness_absent_capacity_gpus", { domain: "H100" });
    expect(byOwner.map((one) => [one.labels.get("owner"), one.value])).toEqual([
      ["lost_node", 10],
      ["node_to_come", 0],
      ["past_queues", 6],
      ["promised_twice", 0],
    ]);
    expect(sumOf(lost, "fairlead_fairness_absent_capacity_gpus")).toBe(16);
    // Of L4 nobody knows what anybody is entitled to; what is allocated past its queues is known all the same.
    expect(of(lost, "fairlead_fairness_absent_capacity_gpus", { domain: "L4" })).toEqual([]);
  });

  test("what pods of no queue hold is a number of its own in every domain", () => {
    const past = of(samples, "fairlead_domain_past_queues_gpus", {});
    expect(past.map((one) => [one.labels.get("domain"), one.value])).toEqual([
      ["A100", 2],
      ["H100", 0],
      ["L4", 0],
    ]);
  });

  test("what is not known has no series: entitlement, limits, reservations, unknown numbers of schedulers", () => {
    const l4 = (name: string) => of(samples, name, { domain: "L4" });
    expect(l4("fairlead_queue_allocated_gpus")).toHaveLength(1);
    for (const name of [
      "fairlead_queue_entitled_gpus",
      "fairlead_fairness_deviation_gpus",
      "fairlead_fairness_jain_index",
      "fairlead_queue_limit_gpus",
      "fairlead_queue_reserved_gpus",
      "fairlead_team_entitled_gpus",
    ])
      expect(l4(name), name).toEqual([]);
    const shares = of(samples, "fairlead_queue_scheduler_value", { queue: "vision" });
    expect(shares.map((one) => [one.labels.get("source"), one.value])).toEqual([
      ["computed", Number.POSITIVE_INFINITY],
    ]);
  });

  test("a team that only waits in a queue is a team", () => {
    expect(of(samples, "fairlead_team_pending_gpus", { team: "stray" })).toHaveLength(1);
  });

  test("what no queue takes waits under an empty name", () => {
    const stray = of(samples, "fairlead_queue_waiting_gpus", { queue: "" });
    expect(stray.map((one) => [one.labels.get("cause"), one.value])).toEqual([["constraint", 4]]);
  });
});

describe("beyond the budget", () => {
  test("the largest queues keep their names, the others of a domain are added up", () => {
    const samples = pageOf(manyQueues(numbered(10)), { teams: 3, series: 50_000 });
    const names = new Set(of(samples, "fairlead_queue_allocated_gpus").map((one) => one.labels.get("queue")));
    expect(names).toEqual(new Set(["q9", "q8", "q7", "other"]));
    for (const [name, sum] of [
      ["fairlead_queue_allocated_gpus", 45],
      ["fairlead_queue_pending_gpus", 45],
      ["fairlead_queue_reserved_gpus", 45],
      ["fairlead_queue_entitled_gpus", 90],
      ["fairlead_fairness_deviation_gpus", -45],
      ["fairlead_queue_shortfall_gpus", 45],
      ["fairlead_queue_actionable_shortfall_gpus", 45],
      ["fairlead_queue_limit_gpus", 10_000],
      ["fairlead_team_entitled_gpus", 90],
      ["fairlead_queue_waiting_gpus", 55],
      ["fairlead_queue_waiting_gangs", 10],
      ["fairlead_queue_late_gangs", 10],
      ["fairlead_fairness_pair_gpus", 45],
      ["fairlead_queues_folded", 7],
    ] as const)
      expect(sumOf(samples, name), name).toBe(sum);
    expect(of(samples, "fairlead_queue_oldest_wait_seconds", { queue: "other" })[0]?.value).toBe(106);
    expect(of(samples, "fairlead_queue_weight", { queue: "other" })).toEqual([]);
  });

  test("of series, queues and teams are folded before anything is cut, and the problem says so", () => {
    const moment = manyQueues(numbered(300));
    const built = buildFamilies({ analysis: moment, health: health(), limits: { teams: 1000, series: 3000 } });
    const samples = readPage(renderPage(built.families).toString());
    expect(samples.length).toBeLessThanOrEqual(3000);
    expect(sumOf(samples, "fairlead_queue_allocated_gpus")).toBe((299 * 300) / 2);
    expect(sumOf(samples, "fairlead_series_dropped")).toBe(0);
    expect(built.problems.map(({ code }) => code)).toContain("queues-folded");
  });

  test("a histogram counts with all its series, and is cut as a whole", () => {
    const totals = queueTotals();
    const [wait] = totals.queues.waits;
    if (wait === undefined) throw new Error("no wait");
    const waits = numbered(60).map((name) => ({ ...wait, queue: name }));
    const accounts = { ...totals, queues: { ...totals.queues, waits } };
    const built = buildFamilies({
      analysis: queueMoment,
      health: health(),
      limits: { teams: 0, series: 700 },
      accounts,
    });
    const samples = readPage(renderPage(built.families).toString());
    expect(samples.length).toBeLessThanOrEqual(700);
    const [counts, buckets] = ["count", "bucket"].map(
      (part) => of(samples, `fairlead_queue_wait_seconds_${part}`).length,
    );
    expect(counts).toBeLessThan(60);
    expect(buckets).toBe((counts ?? 0) * 15);
    expect(sumOf(samples, "fairlead_series_dropped")).toBeGreaterThan(0);
  });

  test("only the ten largest pairs of a domain are named", () => {
    const pairs = of(pageOf(manyQueues(numbered(30))), "fairlead_fairness_pair_gpus");
    expect(pairs.map((one) => one.value).sort((a, b) => a - b)).toEqual([20, 21, 22, 23, 24, 25, 26, 27, 28, 29]);
  });
});

describe("hostile names of queues", () => {
  test("neither break the page nor lose GPUs", () => {
    const names = [...hostileNames, `${"x".repeat(5000)}y`, "other"];
    const samples = pageOf(manyQueues(names));
    expect(sumOf(samples, "fairlead_queue_allocated_gpus")).toBe((names.length * (names.length - 1)) / 2);
    expect(samples.some((sample) => sample.name === "fairlead_forged")).toBe(false);
  });
});
