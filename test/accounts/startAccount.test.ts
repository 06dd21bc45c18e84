import { describe, expect, it } from "vitest";
import { createAccounting } from "../../exporter/accounts/accounting.ts";
import { createStartAccount, pastStartsIn, startKind } from "../../exporter/accounts/startAccount.ts";
import type { PastStart } from "../../exporter/analysis/startTimes/startTimes.ts";
import { defaultConfig } from "../../exporter/config/defaults.ts";
import { work } from "./queueLifecycle.ts";
import { queueMoment } from "./queueMoments.ts";

const start = (parts: Partial<PastStart> = {}): PastStart => ({
  queue: "train",
  domain: "H100",
  since: 1000,
  startedAt: 2000,
  gpus: 8,
  priority: 3,
  ...parts,
});

const rowsOf = (account: ReturnType<typeof createStartAccount>) =>
  account.takeChanges().map(({ kind, key, value }) => ({ kind, key, value: value ?? "" }));

describe("the starts that are remembered", () => {
  it("come back after a restart as they were, the oldest first", () => {
    const account = createStartAccount([]);
    const starts = [start({ startedAt: 5000 }), start({ queue: "serve", gpus: 0.5, startedAt: 3000 })];
    account.add(starts);
    const rows = rowsOf(account);
    expect(account.takeChanges()).toEqual([]);
    const again = createStartAccount(rows).past();
    expect(again).toEqual(account.past());
    expect(again.map(({ startedAt }) => startedAt)).toEqual([3000, 5000]);
    expect(pastStartsIn(rows)).toEqual(again);
  });

  it("leave out work that hardly waited", () => {
    const account = createStartAccount([]);
    account.add([start({ since: 1000, startedAt: 1030 })]);
    expect(account.past()).toEqual([]);
  });

  it("are bounded, in memory and in the ledger: the newest replace the oldest, over a restart as well", () => {
    const rows = new Map<string, { kind: string; key: string; value: string }>();
    const keep = (account: ReturnType<typeof createStartAccount>) => {
      for (const row of rowsOf(account)) rows.set(row.key, row);
    };
    const first = createStartAccount([], 3);
    first.add([1, 2, 3, 4].map((hour) => start({ startedAt: hour * 3600 })));
    keep(first);
    const second = createStartAccount([...rows.values()], 3);
    second.add([start({ startedAt: 5 * 3600 })]);
    keep(second);
    expect(rows.size).toBe(3);
    expect(second.past().map(({ startedAt }) => startedAt / 3600)).toEqual([3, 4, 5]);
    expect(createStartAccount([...rows.values()], 3).past()).toEqual(second.past());
  });

  it("do not come from rows that cannot be read, nor from names of any length", () => {
    const rows = [
      { kind: startKind, key: "0", value: "{" },
      { kind: startKind, key: "1", value: '["train","H100",1,2,null,0]' },
      { kind: startKind, key: "x", value: '["train","H100",1,2,1,0]' },
      { kind: startKind, key: "-1", value: '["train","H100",1,2,1,0]' },
      { kind: "usage", key: "2", value: '["train","H100",1,2,1,0]' },
    ];
    const account = createStartAccount(rows);
    account.add([start({ queue: "q".repeat(5000) })]);
    expect(account.past()).toEqual([]);
  });

  it("are written only where there is a ledger", () => {
    const account = createStartAccount(null);
    account.add([start()]);
    expect([account.past().length, account.takeChanges().length]).toEqual([1, 0]);
  });
});

describe("an accounting", () => {
  const leaves = [{ name: "train", domain: "H100", allocated: 8, pending: 0, entitled: 8 }];
  const at = 1_000_000;
  const clock = (seconds: number) => ({ wall: at + seconds, monotonic: seconds });

  it("remembers each start once, with its queue, its domain and its size, and not what began before it", () => {
    const accounts = createAccounting({ intervalSeconds: 30, limits: defaultConfig.limits, remembered: [] });
    const before = work({ uid: "old", queue: 1, since: at - 900, startedAt: at - 60, gpus: 4 });
    const begun = work({ uid: "new", queue: 1, since: at - 600, startedAt: at + 20, gpus: 8 });
    const unknown = work({ uid: "unknown", queue: 1, since: at - 600, startedAt: at + 20, gpus: null });
    accounts.account(queueMoment({ leaves, started: [before] }), clock(0));
    const step = accounts.account(queueMoment({ leaves, started: [before, begun, unknown] }), clock(30));
    accounts.account(queueMoment({ leaves, started: [before, begun, unknown] }), clock(60));
    const expected = { queue: "train", domain: "H100", since: at - 600, startedAt: at + 20, gpus: 8, priority: 0 };
    expect(accounts.pastStarts()).toEqual([expected]);
    expect(pastStartsIn((step?.remembered ?? []).map(({ value, ...row }) => ({ ...row, value: value ?? "" })))).toEqual(
      [expected],
    );
  });
});
