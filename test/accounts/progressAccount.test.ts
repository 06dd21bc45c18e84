import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Remembered, RememberedChange } from "../../exporter/accounts/ledger/ledger.ts";
import type { Posting } from "../../exporter/accounts/posting.ts";
import { createProgressAccount, type ProgressAccount } from "../../exporter/accounts/progressAccount.ts";
import type { WorkloadView } from "../../exporter/join/snapshot.ts";
import type { GapReason } from "../../exporter/model/gapReasons.ts";
import { moment } from "../analysis/momentBuilder.ts";
import { now } from "../join/clusterBuilder.ts";
import { workload } from "../publish/moment.ts";

const day = 86_400;

function reporting(name: string, progressUnits: number | null, parts: Partial<WorkloadView> = {}): WorkloadView {
  return workload({ name, progressUnits, ownerUids: [`uid-${name}`], ...parts });
}

/** What a step costs by name of the workload and currency; `null`: some time of it has no price. */
type Costs = Readonly<Record<string, Readonly<Record<string, number>> | null>>;

function posting(name: string, currency: string | null, cost: number | null): Posting {
  const account = {
    pool: "H100",
    nodePool: "a",
    capacityType: null,
    team: "ads",
    queue: null,
    namespace: "ads",
    priorityClass: "normal",
    state: "active",
    currency,
  } as const;
  const allocated = { kind: "Job", namespace: "ads", name };
  return { hour: 0, account, workload: allocated, gpuSeconds: 30, estimatedGpuSeconds: 0, energyJoules: null, cost };
}

const postingsOf = (costs: Costs): readonly Posting[] =>
  Object.entries(costs).flatMap(([name, byCurrency]) =>
    byCurrency === null
      ? [posting(name, "USD", 5), posting(name, null, null)]
      : Object.entries(byCurrency).map(([currency, cost]) => posting(name, currency, cost)),
  );

function see(
  account: ProgressAccount,
  workloads: readonly WorkloadView[],
  costs: Costs | GapReason | null,
  at = now,
): void {
  const gap = typeof costs === "string" ? costs : null;
  const postings = costs === null || typeof costs === "string" ? [] : postingsOf(costs);
  const step = costs === null ? null : { interval: { from: at - 30, to: at, seconds: 30, gap }, postings };
  account.prepare(moment({ workloads }), step, at).commit();
}

const perUnit = (account: ProgressAccount) =>
  Object.fromEntries(
    account.costs().map(({ name, currency, cost, madeUnits }) => [`${name} ${currency}`, cost / madeUnits]),
  );

/** What a ledger holds after these changes. */
function kept(before: readonly Remembered[], changes: readonly RememberedChange[]): readonly Remembered[] {
  const rows = new Map(before.map((row) => [row.key, row]));
  for (const { kind, key, value } of changes) {
    if (value === null) rows.delete(key);
    else rows.set(key, { kind, key, value });
  }
  return [...rows.values()];
}

const clock = (at: number) => ({ wall: at, monotonic: at - now });

describe("cost per unit of progress", () => {
  it("is the cost since the workload was first seen over the units since then", () => {
    const account = createProgressAccount(null);
    see(account, [reporting("train", 12)], null);
    expect(account.costs()).toEqual([]);
    see(account, [reporting("train", 12)], { train: { USD: 30 } });
    expect(account.costs()).toEqual([]);
    see(account, [reporting("train", 20)], { train: { USD: 34 } });
    expect(account.costs()).toEqual([
      { team: "ads", kind: "Job", namespace: "ads", name: "train", currency: "USD", cost: 64, madeUnits: 8 },
    ]);
    expect(perUnit(account)).toEqual({ "train USD": 8 });
  });

  it("begins with the moment that says progress first, not with the workload", () => {
    const account = createProgressAccount(null);
    see(account, [reporting("train", null)], null);
    see(account, [reporting("train", 1)], { train: { USD: 1000 } });
    see(account, [reporting("train", 3)], { train: { USD: 10 } });
    expect(perUnit(account)).toEqual({ "train USD": 5 });
  });

  it("has an amount in each currency, the largest first", () => {
    const account = createProgressAccount(null);
    const both = (units: number) => [reporting("a", units), reporting("b", units)];
    see(account, both(0), null);
    see(account, both(2), { a: { USD: 4, EUR: 6 }, b: { USD: 20 } });
    expect(perUnit(account)).toEqual({ "b USD": 10, "a EUR": 3, "a USD": 2 });
    expect(account.costs().map(({ cost }) => cost)).toEqual([20, 6, 4]);
  });

  it("is not reported while some of its time has no price, and that time counts with neither", () => {
    const account = createProgressAccount(null);
    see(account, [reporting("train", 0)], null);
    see(account, [reporting("train", 2)], { train: { USD: 10 } });
    see(account, [reporting("train", 9)], { train: null });
    expect(account.costs()).toEqual([]);
    see(account, [reporting("train", 11)], { train: { USD: 10 } });
    expect(perUnit(account)).toEqual({ "train USD": 5 });
  });

  it("leaves out what was made in a gap, whose cost is not known", () => {
    const account = createProgressAccount(null);
    see(account, [reporting("train", 0)], null);
    see(account, [reporting("train", 1)], { train: { USD: 6 } });
    see(account, [reporting("train", 500)], "too-long");
    see(account, [reporting("train", 502)], { train: { USD: 12 } });
    expect(perUnit(account)).toEqual({ "train USD": 6 });
  });

  it("takes off what was lost, but not what was made before it was seen", () => {
    const account = createProgressAccount(null);
    see(account, [reporting("train", 10)], null);
    see(account, [reporting("train", 14)], { train: { USD: 4 } });
    see(account, [reporting("train", 12)], { train: { USD: 2 } });
    expect(perUnit(account)).toEqual({ "train USD": 3 });
    see(account, [reporting("train", 0)], { train: { USD: 2 } });
    expect(account.costs()).toEqual([]);
    see(account, [reporting("train", 4)], { train: { USD: 4 } });
    expect(perUnit(account)).toEqual({ "train USD": 3 });
  });

  it("goes on after a while in which nothing was reported", () => {
    const account = createProgressAccount(null);
    see(account, [reporting("train", 0)], null);
    see(account, [reporting("train", null)], { train: { USD: 5 } });
    expect(account.costs()).toEqual([]);
    see(account, [reporting("train", 5)], { train: { USD: 5 } });
    expect(perUnit(account)).toEqual({ "train USD": 2 });
  });

  it("is nothing of what holds nothing, or has gone", () => {
    const account = createProgressAccount(null);
    see(account, [reporting("train", 0), reporting("waits", 0)], null);
    see(account, [reporting("train", 1), reporting("waits", 1)], { train: { USD: 5 } });
    expect(Object.keys(perUnit(account))).toEqual(["train USD"]);
    see(account, [], { train: { USD: 5 } });
    expect(account.costs()).toEqual([]);
  });

  it("begins anew with another workload of the same name", () => {
    const account = createProgressAccount(null);
    see(account, [reporting("train", 0)], null);
    see(account, [reporting("train", 10)], { train: { USD: 10 } });
    const next = (units: number) => [reporting("train", units, { ownerUids: ["uid-next"] })];
    see(account, next(0), { train: { USD: 1 } });
    expect(account.costs()).toEqual([]);
    see(account, next(1), { train: { USD: 7 } });
    expect(perUnit(account)).toEqual({ "train USD": 7 });
  });

  it("is the whole cost over the net progress for any course without gaps, in which nothing is lost", () => {
    const part = fc.record({ made: fc.nat(5), cost: fc.nat(1000) });
    fc.assert(
      fc.property(fc.nat(100), fc.array(part, { minLength: 1, maxLength: 20 }), (first, parts) => {
        const account = createProgressAccount(null);
        see(account, [reporting("train", first)], null);
        let units = first;
        for (const { made, cost } of parts) {
          units += made;
          see(account, [reporting("train", units)], { train: { USD: cost } });
        }
        const whole = parts.reduce((sum, { cost }) => sum + cost, 0);
        if (units === first) expect(account.costs()).toEqual([]);
        else expect(perUnit(account)["train USD"]).toBeCloseTo(whole / (units - first), 9);
      }),
      { numRuns: 200, seed: 7 },
    );
  });
});

describe("over a restart", () => {
  /** The rows of a process in which `train` made 4 units for 20 USD. */
  function firstLifecycle(): readonly Remembered[] {
    const account = createProgressAccount([]);
    see(account, [reporting("train", 0)], null);
    see(account, [reporting("train", 4)], { train: { USD: 20 } }, now + 30);
    return kept([], account.changes(clock(now + 30)));
  }

  it("cost and progress go on, without what nobody saw", () => {
    const account = createProgressAccount(firstLifecycle());
    see(account, [reporting("train", 50)], null, now + 3600);
    expect(perUnit(account)).toEqual({ "train USD": 5 });
    see(account, [reporting("train", 51)], { train: { USD: 10 } }, now + 3630);
    expect(perUnit(account)).toEqual({ "train USD": 6 });
  });

  it("a workload that was gone for more than a day is forgotten, and its row removed", () => {
    const rows = firstLifecycle();
    const account = createProgressAccount(rows);
    see(account, [reporting("train", 50)], null, now + day + 31);
    expect(account.costs()).toEqual([]);
    see(account, [], {}, now + 2 * day + 62);
    expect(kept(rows, account.changes(clock(now + 2 * day + 62)))).toEqual([]);
  });

  it("rows that cannot be read are removed", () => {
    const bad = [
      ["no key", "{}"],
      ['["Job","ads","train"]', '{"seenAt":1,"madeUnits":1,"costs":[]}'],
      ['["Job","ads","a","u"]', "no value"],
      ['["Job","ads","b","u"]', '{"seenAt":1,"madeUnits":-1,"costs":[]}'],
      ['["Job","ads","c","u"]', '{"seenAt":1,"madeUnits":1,"costs":[["USD","5"]]}'],
    ].map(([key = "", value = ""]) => ({ kind: "progress", key, value }));
    const other = { kind: "debt", key: "no key", value: "x" };
    const account = createProgressAccount([...bad, other]);
    see(account, [], null);
    expect(account.changes(clock(now))).toEqual(bad.map(({ kind, key }) => ({ kind, key, value: null })));
  });

  it("is written once a minute, and what is not there any more has no new row", () => {
    const account = createProgressAccount([]);
    see(account, [reporting("a", 0), reporting("b", 0)], null);
    expect(account.changes(clock(now))).toHaveLength(2);
    see(account, [reporting("a", 1)], { a: { USD: 1 } }, now + 30);
    expect(account.changes(clock(now + 30))).toEqual([]);
    see(account, [reporting("a", 2)], { a: { USD: 1 } }, now + 60);
    expect(account.changes(clock(now + 60))).toEqual([
      {
        kind: "progress",
        key: '["Job","ads","a","uid-a"]',
        value: JSON.stringify({ seenAt: now + 60, madeUnits: 2, costs: [["USD", 2]] }),
      },
    ]);
  });

  it("without a ledger nothing is written", () => {
    const account = createProgressAccount(null);
    see(account, [reporting("a", 0)], null);
    expect(account.changes(clock(now))).toEqual([]);
  });
});

describe("the account is bounded", () => {
  const names = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => reporting(`w${from + i}`, 0));

  it("by its number of workloads; what is left out is reported", () => {
    const account = createProgressAccount([], 3);
    see(account, names(0, 5), null);
    expect(account.problems()).toMatchObject([{ code: "progress-left-out", severity: "info" }]);
    expect(account.problems()[0]?.message).toContain("2 workloads");
    see(account, names(0, 10), {}, now + 10);
    expect(account.problems()[0]?.message).toContain("7 workloads");
    expect(account.changes(clock(now))).toHaveLength(3);
    see(account, names(0, 3), {}, now + 30);
    expect(account.problems()).toEqual([]);
  });

  it("and one that has gone makes space for a new one", () => {
    const account = createProgressAccount([], 3);
    see(account, names(0, 3), null);
    const rows = kept([], account.changes(clock(now)));
    see(account, names(1, 4), {}, now + 60);
    expect(account.problems()).toEqual([]);
    expect(kept(rows, account.changes(clock(now + 60))).map(({ key }) => key)).toEqual(
      [1, 2, 3].map((i) => `["Job","ads","w${i}","uid-w${i}"]`),
    );
  });

  it("by the rows that it takes over, the latest first", () => {
    const rows = [0, 1, 2].map((i) => ({
      kind: "progress",
      key: `["Job","ads","w${i}","uid-w${i}"]`,
      value: JSON.stringify({ seenAt: now - i, madeUnits: 1, costs: [["USD", 5]] }),
    }));
    const account = createProgressAccount(rows, 2);
    see(account, names(0, 3), null);
    expect(Object.keys(perUnit(account))).toEqual(["w0 USD", "w1 USD"]);
    expect(kept(rows, account.changes(clock(now)))).toHaveLength(2);
  });

  it("by the length of names", () => {
    const account = createProgressAccount([]);
    see(account, [reporting("x".repeat(5000), 0)], null);
    expect(account.changes(clock(now))).toEqual([]);
    expect(account.problems()).toHaveLength(1);
  });

  it("by the currencies of a workload", () => {
    const account = createProgressAccount([]);
    see(account, [reporting("a", 0)], null);
    const many = Object.fromEntries(Array.from({ length: 9 }, (_, i) => [`C${i}`, 1]));
    see(account, [reporting("a", 1)], { a: many });
    expect(account.costs()).toEqual([]);
  });
});
