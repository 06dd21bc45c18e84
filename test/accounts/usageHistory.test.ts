import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import type { Remembered, RememberedChange } from "../../exporter/accounts/ledger/ledger.ts";
import { createUsageAccount, type UsageAccount } from "../../exporter/accounts/usageHistory.ts";
import { queueMoment } from "./queueMoments.ts";

const settings = { enabled: true, halfLifeSeconds: 3600, windowSeconds: 7200, kValue: 2 };
const key = "kueue/ClusterQueue/a/H100";

const clock = (monotonic: number, wall = 1_793_577_600 + monotonic) => ({ wall, monotonic });

const holding = (allocated: number, capacity = 100) =>
  queueMoment({ leaves: [{ name: "a", domain: "H100", allocated, pending: 0, entitled: allocated }], capacity });

describe("usage history", () => {
  it("is there only when it is enabled", () => {
    const account = createUsageAccount({ ...settings, enabled: false }, null);
    account.add(holding(5), 30, clock(30));
    expect(account.history()).toBeNull();
    expect(createUsageAccount(settings, null).history()).toEqual({ usage: new Map(), kValue: 2 });
  });

  it("is use over capacity, weighted by age, of the last window to within a sixtieth of it", () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.nat(50), fc.constantFrom(50, 100)), { minLength: 1, maxLength: 300 }),
        fc.constantFrom(10, 30, 60),
        (amounts, seconds) => {
          const account = createUsageAccount(settings, null);
          const begin = 5_000_000;
          for (const [i, [allocated, capacity]] of amounts.entries())
            account.add(holding(allocated, capacity), seconds, clock(begin + seconds * (i + 1)));
          const sums = (oldest: number) => {
            const inside = amounts.map((pair, i) => ({ pair, age: seconds * (amounts.length - 1 - i) }));
            const weighted = inside
              .filter(({ age }) => age < oldest)
              .map(({ pair: [allocated, capacity], age }) => ({
                allocated: allocated * 2 ** (-age / 3600),
                capacity: capacity * 2 ** (-age / 3600),
              }));
            const allocated = weighted.reduce((sum, one) => sum + one.allocated, 0);
            return allocated / weighted.reduce((sum, one) => sum + one.capacity, 0);
          };
          const found = account.history()?.usage.get(key) ?? 0;
          const cuts = Array.from({ length: 8 }, (_, i) => sums(7200 - seconds + i * 60));
          const width = 1e-6 + Math.max(...cuts) - Math.min(...cuts);
          expect(found).toBeGreaterThanOrEqual(Math.min(...cuts) - width);
          expect(found).toBeLessThanOrEqual(Math.max(...cuts) + width);
        },
      ),
      { numRuns: 60, seed: 20_261_126 },
    );
  });

  it("forgets what is older than the window", () => {
    const account = createUsageAccount(settings, null);
    account.add(holding(100), 60, clock(60));
    for (let now = 120; now <= 7200; now += 60) account.add(holding(0), 60, clock(now));
    expect(account.history()?.usage.get(key)).toBeGreaterThan(0);
    for (let now = 7260; now <= 7500; now += 60) account.add(holding(0), 60, clock(now));
    expect(account.history()?.usage.get(key)).toBeUndefined();
  });

  it("counts queues of all levels, whatever their names", () => {
    const account = createUsageAccount(settings, null);
    const base = queueMoment({
      leaves: [
        { name: "a/b", domain: "H100/x", allocated: 10, pending: 0, entitled: 0 },
        { name: "__proto__", domain: "H100/x", allocated: 20, pending: 0, entitled: 0 },
      ],
    });
    const { queueing } = base.snapshot;
    const queues = queueing.queues.map((view) => (view.kind === "Scheduler" ? { ...view, allocated: 30 } : view));
    account.add({ ...base, snapshot: { ...base.snapshot, queueing: { ...queueing, queues } } }, 30, clock(30));
    const usage = account.history()?.usage ?? new Map();
    expect(Object.fromEntries([...usage].map(([name, part]) => [name, Math.round(part * 1e6) / 1e6]))).toEqual({
      "kueue/Scheduler/kueue/H100/x": 0.3,
      "kueue/ClusterQueue/a/b/H100/x": 0.1,
      "kueue/ClusterQueue/__proto__/H100/x": 0.2,
    });
  });
});

describe("past use, over a restart", () => {
  /** What a ledger holds after these changes. */
  function kept(rows: ReadonlyMap<string, Remembered>, changes: readonly RememberedChange[]) {
    const next = new Map(rows);
    for (const { kind, key, value } of changes) {
      if (value === null) next.delete(key);
      else next.set(key, { kind, key, value });
    }
    return next;
  }

  function play(account: UsageAccount, from: number, until: number, allocated: number, wall: number, rows = new Map()) {
    let known: ReadonlyMap<string, Remembered> = rows;
    for (let now = from + 30; now <= until; now += 30) {
      account.add(holding(allocated), 30, clock(now, wall + now - from));
      known = kept(known, account.changes(clock(now, wall + now - from)));
    }
    return known;
  }

  test("goes on as if the silence had been a gap, whatever the clock of the process", () => {
    const whole = createUsageAccount(settings, []);
    whole.begin(clock(0));
    play(whole, 0, 3600, 40, 1000);
    play(whole, 4200, 6000, 10, 5200);

    const first = createUsageAccount(settings, []);
    first.begin(clock(0, 1000));
    const rows = play(first, 0, 3600, 40, 1000);
    const second = createUsageAccount(settings, [...rows.values()]);
    second.begin(clock(77_777, 5200));
    const later = play(second, 77_777, 79_577, 10, 5200, new Map(rows));
    const wanted = whole.history()?.usage.get(key) ?? 0;
    expect(Math.abs((second.history()?.usage.get(key) ?? 0) - wanted)).toBeLessThan(0.01 * wanted);
    expect(later.size).toBeGreaterThan(rows.size);
    // Rows of what is forgotten go.
    expect(play(second, 79_577, 79_577 + 7500, 10, 7000, new Map(later)).size).toBeLessThanOrEqual(62);
  });

  test("leaves out rows that it cannot read, from the future, and from before the window", () => {
    const good = JSON.stringify({ allocated: [[key, "H100", 50]], capacity: [["H100", 100]] });
    const row = (at: number | string, value = good): Remembered => ({ kind: "usage", key: String(at), value });
    const bad = [
      "{",
      "[]",
      '{"held":[],"capacity":7}',
      '{"held":[["a"]],"capacity":[]}',
      '{"held":[],"capacity":[[1]]}',
    ];
    const rows = [row(9000), row(20_000), row(1000), row("x"), ...bad.map((value, i) => row(9100 + i, value))];
    const account = createUsageAccount(settings, [...rows, { kind: "debt", key: "9200", value: good }]);
    account.begin(clock(0, 10_000));
    expect(account.history()?.usage).toEqual(new Map([[key, 0.5]]));
  });

  test("writes once a minute, and only what changed", () => {
    const account = createUsageAccount(settings, []);
    account.begin(clock(0, 1000));
    const counts = Array.from({ length: 12 }, (_, i) => {
      account.add(holding(1), 30, clock(30 + 30 * i));
      return account.changes(clock(30 + 30 * i)).length;
    });
    expect(counts.filter((n) => n > 0).length).toBe(6);
    expect(Math.max(...counts)).toBeLessThanOrEqual(2);
    const unwritten = createUsageAccount(settings, null);
    unwritten.add(holding(1), 30, clock(30));
    expect(unwritten.changes(clock(30))).toEqual([]);
  });
});
