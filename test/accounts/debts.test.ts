import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createDebtAccount, type DebtAccount } from "../../exporter/accounts/debtAccount.ts";
import type { Remembered, RememberedChange } from "../../exporter/accounts/ledger/ledger.ts";
import type { FairnessDebt } from "../../exporter/accounts/queueCounters.ts";
import type { Analysis } from "../../exporter/analysis/analysis.ts";
import { anyLeaves, type Leaf, queueMoment } from "./queueMoments.ts";

const start = 1_793_577_600;
const halfLives = [60, 3600];

function step(account: DebtAccount, before: Analysis, seconds: number, now: number, isCovered = true) {
  const prepared = account.prepare(before, seconds, isCovered, now);
  prepared.commit();
  return prepared.changes;
}

const leaf = (values: Partial<Leaf> = {}): Leaf => ({
  name: "a",
  domain: "H100",
  allocated: 2,
  pending: 8,
  entitled: 5,
  ...values,
});
const moment = (...leaves: readonly Leaf[]): Analysis => queueMoment({ leaves });

/** What a ledger holds after these changes. */
function kept(before: readonly Remembered[], changes: readonly RememberedChange[]): readonly Remembered[] {
  const rows = new Map(before.map((row) => [JSON.stringify([row.kind, row.key]), row]));
  for (const { kind, key, value } of changes) {
    if (value === null) rows.delete(JSON.stringify([kind, key]));
    else rows.set(JSON.stringify([kind, key]), { kind, key, value });
  }
  return [...rows.values()];
}

const find = (account: DebtAccount, queue: string, domain: string, halfLife: number): FairnessDebt | undefined =>
  account.debts().find((debt) => debt.queue === queue && debt.domain === domain && debt.halfLifeSeconds === halfLife);

/** Integral of 2^(-age / H) between two ages. */
const weight = (halfLife: number, from: number, to: number): number =>
  (halfLife / Math.LN2) * (2 ** (-from / halfLife) - 2 ** (-to / halfLife));

interface Lived {
  readonly begin: number;
  readonly end: number;
  /** None where the step is not covered. */
  readonly leaves: readonly Leaf[];
}

/** The debt by its definition, as of `at`. */
function integral(steps: readonly Lived[], queue: string, domain: string, halfLife: number, at: number): number {
  const parts = steps.flatMap(({ begin, end, leaves }) =>
    leaves
      .filter((one) => one.name === queue && one.domain === domain && one.entitled !== null)
      .map(({ allocated, entitled }) => (allocated - (entitled ?? 0)) * weight(halfLife, at - end, at - begin)),
  );
  return parts.reduce((sum, part) => sum + part, 0);
}

/** All queues of all moments, so that none of them is ever gone. */
function withIdle(leaves: readonly Leaf[]): readonly Leaf[] {
  const missing = ["a", "b", "c", "__proto__", "d/e"].flatMap((name) =>
    ["H100", "A100+L4"]
      .filter((domain) => !leaves.some((one) => one.name === name && one.domain === domain))
      .map((domain) => leaf({ name, domain, allocated: 0, pending: 0, entitled: 0 })),
  );
  return [...leaves, ...missing];
}

describe("fairness debt", () => {
  it("is the integral of the deviation, weighted by its age, whatever the steps are", () => {
    const lives = fc.array(
      fc.record({ seconds: fc.double({ min: 0.5, max: 90, noNaN: true }), leaves: anyLeaves, isCovered: fc.boolean() }),
      { minLength: 1, maxLength: 12 },
    );
    fc.assert(
      fc.property(lives, (lifecycle) => {
        const account = createDebtAccount(halfLives, null);
        account.begin(start);
        let at = 0;
        const steps = lifecycle.map(({ seconds, leaves, isCovered }): Lived => {
          at += seconds;
          step(account, moment(...withIdle(leaves)), seconds, start + at, isCovered);
          return { begin: at - seconds, end: at, leaves: isCovered ? leaves : [] };
        });
        for (const { queue, domain, halfLifeSeconds, gpuSeconds } of account.debts())
          expect(gpuSeconds).toBeCloseTo(integral(steps, queue, domain, halfLifeSeconds, at), 6);
        const moved = steps.flatMap(({ leaves }) => leaves).filter((one) => (one.entitled ?? 0) > 0);
        const shown = new Set(account.debts().map(({ queue, domain }) => `${queue}|${domain}`));
        for (const { name, domain } of moved) expect(shown.has(`${name}|${domain}`)).toBe(true);
      }),
      { numRuns: 300, seed: 20_261_125 },
    );
  });

  it("tends to deviation x half-life / ln 2", () => {
    const account = createDebtAccount([60], null);
    account.begin(start);
    for (let i = 1; i <= 100; i += 1) step(account, moment(leaf()), 30, start + 30 * i);
    expect(find(account, "a", "H100", 60)).toMatchObject({ scheduler: "kueue", kind: "ClusterQueue", team: "a" });
    expect(find(account, "a", "H100", 60)?.gpuSeconds).toBeCloseTo((-3 * 60) / Math.LN2, 6);
    expect(find(account, "a", "H100", 60)?.ratio).toBeCloseTo(-0.6, 9);
  });
});

describe("the ratio", () => {
  function ratios(
    lifecycle: readonly (readonly [seconds: number, isCovered: boolean, of: Leaf])[],
  ): readonly unknown[] {
    const account = createDebtAccount([600], null);
    account.begin(start);
    let now = start;
    return lifecycle.map(([seconds, isCovered, of]) => {
      now += seconds;
      step(account, moment(of, leaf({ name: "other", allocated: 90, entitled: 90 })), seconds, now, isCovered);
      return find(account, "a", "H100", 600)?.ratio ?? null;
    });
  }

  it("comes after one half-life", () => {
    const minute = [60, true, leaf()] as const;
    const found = ratios(Array.from({ length: 11 }, () => minute));
    expect(found.slice(0, 9)).toEqual(Array.from({ length: 9 }, () => null));
    expect(found[9]).toBeCloseTo(-0.6, 9);
    expect(found[10]).toBeCloseTo(-0.6, 9);
  });

  it("is refused while less than 0.9 of the weighted time is covered, and comes back", () => {
    const covered = [60, true, leaf()] as const;
    const missed = [60, false, leaf()] as const;
    const many = Array.from({ length: 40 }, () => covered);
    const found = ratios([...many, missed, missed, ...many]);
    expect(found[40]).toBeCloseTo(-0.6, 9);
    // Two minutes of the last weigh 1 - 2^(-2/10) = 0.13.
    expect(found[41]).toBeNull();
    expect(found.at(-1)).toBeCloseTo(-0.6, 9);
  });

  it("is refused for a queue that is entitled to less than 1 % of the domain", () => {
    const of = (entitled: number) =>
      Array.from({ length: 12 }, () => [60, true, leaf({ allocated: 0, entitled })] as const);
    expect(ratios(of(0.99)).at(-1)).toBeNull();
    expect(ratios(of(1.01)).at(-1)).toBeCloseTo(-1, 9);
  });

  it("is refused while the entitlement is not known", () => {
    const unknown = [60, true, leaf({ entitled: null })] as const;
    const known = Array.from({ length: 20 }, () => [60, true, leaf()] as const);
    expect(ratios([...known, unknown, unknown, unknown]).at(-1)).toBeNull();
  });
});

describe("a queue that is gone", () => {
  it("decays, and is dropped when what is left is negligible, with its domain", () => {
    const account = createDebtAccount([60], []);
    account.begin(start);
    let rows = kept([], step(account, moment(leaf({ allocated: 90, entitled: 1 })), 60, start + 60));
    expect(rows.map(({ kind }) => kind).sort()).toEqual(["debt", "debt-domain"]);
    let now = start + 60;
    const other = moment(leaf({ name: "b", domain: "L4", allocated: 1, entitled: 1 }));
    const seen: number[] = [];
    for (let i = 0; i < 14; i += 1) {
      now += 60;
      rows = kept(rows, step(account, other, 60, now));
      seen.push(account.debts().filter(({ domain }) => domain === "H100").length);
    }
    expect(seen[0]).toBe(1);
    expect(seen.at(-1)).toBe(0);
    expect(rows.map(({ key }) => key).filter((key) => key.includes("H100"))).toEqual([]);
  });
});

describe("a restart", () => {
  it("keeps the debts, decayed by the time away, which counts as not covered", () => {
    const lifecycle = (
      account: DebtAccount,
      from: number,
      steps: number,
      rows: readonly Remembered[],
    ): readonly Remembered[] => {
      let known = rows;
      for (let i = 1; i <= steps; i += 1)
        known = kept(
          known,
          step(account, moment(leaf(), leaf({ name: "b", allocated: 3, entitled: 0 })), 60, from + 60 * i),
        );
      return known;
    };
    const whole = createDebtAccount(halfLives, []);
    whole.begin(start);
    lifecycle(whole, start, 80, []);
    whole.prepare(queueMoment({}), 1000, false, start + 5800).commit();

    const first = createDebtAccount(halfLives, []);
    first.begin(start);
    const rows = lifecycle(first, start, 80, []);
    const second = createDebtAccount(halfLives, rows);
    second.begin(start + 5800);
    expect(second.debts()).toHaveLength(4);
    for (const [i, debt] of second.debts().entries()) {
      expect(debt.gpuSeconds).toBeCloseTo(whole.debts()[i]?.gpuSeconds ?? Number.NaN, 6);
      expect(debt).toMatchObject({ queue: whole.debts()[i]?.queue, ratio: null });
    }
    lifecycle(second, start + 5800, 300, rows);
    expect(find(second, "a", "H100", 3600)?.ratio).toBeCloseTo(-0.6, 9);
  });

  it("may change the half-lives: new ones begin at 0", () => {
    const first = createDebtAccount([60, 3600], []);
    first.begin(start);
    const rows = kept([], step(first, moment(leaf()), 60, start + 60));
    const second = createDebtAccount([3600, 7200], rows);
    second.begin(start + 60);
    expect(second.debts().map(({ halfLifeSeconds, gpuSeconds }) => [halfLifeSeconds, gpuSeconds])).toEqual([
      [3600, find(first, "a", "H100", 3600)?.gpuSeconds],
      [7200, 0],
    ]);
  });

  it("writes at most once a minute, and only what did more than decay", () => {
    const account = createDebtAccount(halfLives, []);
    account.begin(start);
    const idle = leaf({ name: "idle", allocated: 0, pending: 0, entitled: 0 });
    const keys = [30, 60, 90, 120].map((after) => {
      const now =
        after <= 90 ? moment(leaf(), leaf({ name: "b", allocated: 1, entitled: 0 }), idle) : moment(leaf(), idle);
      return step(account, now, 30, start + after).map(({ kind, key }) => `${kind} ${key}`);
    });
    const row = (name: string): string => `debt ${JSON.stringify(["kueue", "ClusterQueue", name, "H100"])}`;
    expect(keys).toEqual([[row("a"), row("b"), "debt-domain H100"], [], [row("a"), row("b"), "debt-domain H100"], []]);
  });

  it("leaves out rows that it cannot read", () => {
    const key = JSON.stringify(["kueue", "ClusterQueue", "a", "H100"]);
    const good = JSON.stringify({ at: start, team: "a", values: [[60, -5, 10]] });
    const rows: readonly Remembered[] = [
      { kind: "debt", key, value: good },
      { kind: "debt", key: "[]", value: good },
      { kind: "debt", key: JSON.stringify(["kueue", "Pod", "b", "H100"]), value: good },
      { kind: "debt", key: JSON.stringify(["kueue", "Queue", "c", "H100"]), value: "{" },
      { kind: "debt", key: JSON.stringify(["kueue", "Queue", "d", "H100"]), value: '{"at":"now","values":[]}' },
      { kind: "debt", key: JSON.stringify(["kueue", "Queue", "e", "H100"]), value: '{"at":1,"values":[[60,null,1]]}' },
      { kind: "debt-domain", key: "H100", value: "null" },
      { kind: "idle", key, value: good },
    ];
    const account = createDebtAccount([60], rows);
    account.begin(start);
    expect(account.debts()).toMatchObject([{ queue: "a", gpuSeconds: -5, ratio: null }]);
  });

  it("does not take rows from the future for anything but the present", () => {
    const value = JSON.stringify({ at: start + 1000, team: "a", values: [[60, -5, 10]] });
    const key = JSON.stringify(["kueue", "ClusterQueue", "a", "H100"]);
    const account = createDebtAccount([60], [{ kind: "debt", key, value }]);
    account.begin(start);
    expect(account.debts()).toMatchObject([{ gpuSeconds: -5 }]);
  });
});

describe("a step that is worked out", () => {
  it("changes nothing before it is committed", () => {
    const account = createDebtAccount(halfLives, []);
    account.begin(start);
    step(account, moment(leaf()), 30, start + 30);
    const before = account.debts();
    const prepared = account.prepare(moment(leaf({ allocated: 50 })), 30, true, start + 60);
    expect(account.debts()).toEqual(before);
    prepared.commit();
    expect(account.debts()).not.toEqual(before);
  });
});
