import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Review, reviewSchema } from "../../../review/document/review.ts";
import { mergeReviews } from "../../../review/merge/mergeReviews.ts";
import { filledLedger } from "../filledLedger.ts";
import type { FilledCluster } from "../filler.ts";
import { flatten, type Leaf } from "../flatten.ts";
import { reviewOf } from "../reviewOf.ts";

const folder = mkdtempSync(path.join(tmpdir(), "fairlead-merge-"));
const open: DatabaseSync[] = [];
afterAll(() => {
  for (const db of open) db.close();
  rmSync(folder, { recursive: true, force: true });
});

let files = 0;

async function ledger(intervalSeed: number, ...clusters: readonly FilledCluster[]): Promise<DatabaseSync> {
  files += 1;
  const db = await filledLedger(path.join(folder, `${files}.db`), intervalSeed, clusters);
  open.push(db);
  return db;
}

const cluster = (seed: number, prefix: string, ...others: readonly string[]): FilledCluster => ({
  seed,
  prefix: `${prefix}-`,
  hasLateWorkloads: false,
  currencies: ["USD", ...others],
});

function merge(...reviews: readonly Review[]): Review {
  const merged = mergeReviews(reviews);
  if (!merged.ok) throw new Error(`${merged.error} ${merged.nextStep}`);
  return reviewSchema.parse(merged.review);
}

const isSame = (one: Leaf | undefined, other: Leaf | undefined): boolean =>
  typeof one === "number" && typeof other === "number"
    ? Math.abs(one - other) <= 1e-9 * Math.max(Math.abs(one), Math.abs(other)) + 1e-9
    : one === other;

/** Places at which two documents differ, but for the order of lists; `skip`: places that nobody compares. */
function differences(one: unknown, other: unknown, skip: RegExp = /$^/): readonly string[] {
  const [a, b] = [flatten(one), flatten(other)];
  return [...new Set([...a.keys(), ...b.keys()])]
    .filter((place) => !skip.test(place) && !isSame(a.get(place), b.get(place)))
    .map((place) => `${place}: ${a.get(place)}, ${b.get(place)}`);
}

let a: Review;
let b: Review;
let c: Review;
beforeAll(async () => {
  // The first two with different covered time, the third with a window before that it does not know.
  a = await reviewOf(await ledger(1, cluster(1, "a")), "alpha");
  b = await reviewOf(await ledger(2, cluster(2, "b", "EUR")), "beta");
  c = await reviewOf(await ledger(3, cluster(3, "c", "EUR")), "gamma", { week: "2026-W44", compare: 1 });
});

describe("merging reviews", () => {
  it("does not depend on their order", () => {
    const all = merge(a, b, c);
    for (const [one, two, three] of [
      [a, c, b],
      [b, a, c],
      [b, c, a],
      [c, a, b],
      [c, b, a],
    ] as const)
      expect(merge(one, two, three)).toEqual(all);
  });

  it("does not depend on what was merged before", () => {
    const all = merge(a, b, c);
    expect(differences(merge(merge(a, b), c), all)).toEqual([]);
    expect(differences(merge(a, merge(b, c)), all)).toEqual([]);
    expect(differences(merge(merge(c, a), b), all)).toEqual([]);
    expect(all.clusters).toEqual(["alpha", "beta", "gamma"]);
  });

  it("leaves one review as it is", () => {
    expect(merge(a)).toEqual(reviewSchema.parse(a));
  });

  it("adds up what is an amount, each currency by itself", () => {
    const all = merge(a, b);
    const [last, ...parts] = [all, a, b].map(({ periods }) => periods.at(-1));
    for (const name of ["capacity", "allocated", "active", "judged", "usable", "pending", "coveredSeconds"] as const)
      expect(last?.[name], name).toBeCloseTo(
        parts.reduce((sum, period) => sum + (period?.[name] ?? 0), 0),
        5,
      );
    for (const currency of ["USD", "EUR"])
      expect(last?.costs[currency]).toBeCloseTo(
        parts.reduce((sum, period) => sum + (period?.costs[currency] ?? 0), 0),
        4,
      );
    for (const { team, ...sums } of all.teams) {
      const rows = [a, b].flatMap(({ teams }) => teams.filter((row) => row.team === team));
      for (const name of ["allocated", "active", "idle", "underutilized", "jobs", "evictions"] as const)
        expect(sums[name], `${team} ${name}`).toBeCloseTo(
          rows.reduce((sum, row) => sum + (row[name] ?? 0), 0),
          5,
        );
    }
    expect(all.coverage.windowSeconds).toBe(a.coverage.windowSeconds + b.coverage.windowSeconds);
    expect(all.jobs?.count).toBe((a.jobs?.count ?? 0) + (b.jobs?.count ?? 0));
  });

  it("compares only with windows that each cluster knows", () => {
    const all = merge(a, b, c);
    const capacity = all.tiles.find(({ id }) => id === "capacity");
    expect(capacity?.before.map(({ label, value }) => [label, value === null])).toEqual([
      ["2026-W42", true],
      ["2026-W43", false],
    ]);
    // What is known of it stays in the periods.
    expect(all.periods[0]?.capacity).toBeCloseTo((a.periods[0]?.capacity ?? 0) + (b.periods[0]?.capacity ?? 0), 5);
    const [before, now] = all.periods
      .slice(1)
      .map(({ capacity: gpuHours, coveredSeconds }) => gpuHours / coveredSeconds);
    expect(capacity?.change).toBeCloseTo((now ?? 0) / (before ?? 1) - 1, 9);
  });
});

describe("two clusters with the same covered time", () => {
  /**
   * A ledger has its own cluster's name and time, and no two prices of the same kind; how well each is scheduled is its own, and
   * in one ledger, queues of both clusters that bear one name have waits of two domains.
   */
  const ownOfClusters =
    /^(clusters|source|writtenAt|coverage|prices|notes|terms\.schedulingEfficiency|periods\[.*\]\.coveredSeconds)|\.oneMoreNode\.|\.cluster$/;

  it.each([
    ["a week", {}],
    ["a month", { month: "2026-10", compare: 1 }],
    ["the week that goes on", { week: "current", compare: 4 }],
    ["one team", { week: "2026-W44", team: "ads" }],
  ])("%s: merged, are the review of one ledger that has both, percentiles too", async (_, asked) => {
    const [one, two] = [cluster(11, "x"), cluster(12, "y", "EUR")];
    const reviews = [
      await reviewOf(await ledger(5, one), "x", asked),
      await reviewOf(await ledger(5, two), "y", asked),
    ];
    const whole = await reviewOf(await ledger(5, one, two), "both", asked);
    expect(differences(merge(...reviews), whole, ownOfClusters)).toEqual([]);
  });
});

describe("reviews that cannot be one", () => {
  it("of different windows", async () => {
    const other = await reviewOf(await ledger(1, cluster(1, "a")), "delta", { week: "2026-W43" });
    expect(mergeReviews([a, other])).toEqual({
      ok: false,
      error: "the reviews are of different windows (2026-W44 of alpha, 2026-W43 of delta)",
      nextStep: "Write each cluster's review for the same week or month.",
    });
  });

  it("of one cluster twice, also within one that was merged", () => {
    const twice = { ok: false, error: 'cluster "beta" is in two of the reviews' };
    expect(mergeReviews([b, a, b])).toMatchObject(twice);
    expect(mergeReviews([merge(a, b), b])).toMatchObject(twice);
  });

  it("of a team and of all, of two teams", () => {
    const error = "some of the reviews are of one team, others of another or of all";
    expect(mergeReviews([a, { ...b, team: "ads" }])).toMatchObject({ ok: false, error });
    expect(
      mergeReviews([
        { ...a, team: "vision" },
        { ...b, team: "ads" },
      ]),
    ).toMatchObject({ ok: false, error });
    expect(mergeReviews([])).toMatchObject({ ok: false, error: "there is no review to merge" });
  });
});

describe("a cluster whose review lacks a section", () => {
  const withoutJobs = (review: Review): Review => ({
    ...review,
    jobs: null,
    waits: null,
    demand: null,
    estimatedGpuHours: null,
    teams: review.teams.map((team) => ({ ...team, jobs: null, waits: null })),
  });

  it("leaves it to the others, says so, and makes their sums unknown", () => {
    const all = merge(a, withoutJobs(b));
    expect(all.jobs).toEqual(a.jobs);
    expect(all.demand).toEqual(a.demand);
    expect(all.estimatedGpuHours).toBeNull();
    expect(all.teams.find(({ team }) => team === "ads")).toMatchObject({ jobs: null, waits: null });
    expect(all.notes.filter(({ text }) => text.startsWith("Not in these sections"))).toEqual([
      { cluster: "beta", text: "Not in these sections, since its review has none: demand, waits, jobs." },
    ]);
  });

  it("and all others lack it, too: then there is none", () => {
    const all = merge(withoutJobs(a), withoutJobs(b));
    expect([all.jobs, all.waits, all.demand]).toEqual([null, null, null]);
    expect(all.notes.some(({ text }) => text.startsWith("Not in these"))).toBe(false);
  });
});
