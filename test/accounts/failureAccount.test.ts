import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { SeenError } from "../../exporter/accounts/applicationErrors.ts";
import { createFailureAccount } from "../../exporter/accounts/failureAccount.ts";
import type { FailedWork } from "../../exporter/join/failedWork.ts";
import { moment } from "../analysis/momentBuilder.ts";
import { now } from "../join/clusterBuilder.ts";

/** A program on 8 GPUs that ran for an hour and ended a minute ago. */
const failure = (parts: Partial<FailedWork> = {}): FailedWork => {
  const work = { uid: "u", at: now - 60, from: now - 3660, gpus: 8, isUpperBound: true, ...parts };
  const names = { kind: "Job", namespace: "ads", name: "train", pod: "train-0", team: "ads" };
  return { key: `${work.uid}/${work.at}`, ...names, ...work };
};
const moments = (seconds: number, ...failures: readonly FailedWork[]) => moment({ at: now + seconds, failures });
const none = (): SeenError | null => null;

/** What is counted after these moments; an earlier one, without failures, is the baseline. */
function counted(seen: readonly ReturnType<typeof moments>[], errorOf: (uid: string) => SeenError | null = none) {
  const account = createFailureAccount(10_000, (team) => team);
  for (const one of [moments(-7200), ...seen, moments(600)]) account.see(one, errorOf);
  return account.totals();
}

describe("failures of programs", () => {
  it("are counted once, however long objects report them, with the GPU time that they undid", () => {
    expect(counted([moments(0, failure()), moments(30, failure()), moments(60, failure())])).toEqual([
      { team: "ads", error: "unknown", failures: 1, lostGpuSeconds: 8 * 3600 },
    ]);
  });

  it("undo what ran since the failure before, and nothing twice", () => {
    const first = failure({ at: now - 1800 });
    const again = failure({ at: now - 60, from: now - 3660 });
    expect(counted([moments(0, first), moments(30, first, again)])).toMatchObject([
      { failures: 2, lostGpuSeconds: 8 * 3600 },
    ]);
    const overlapping = failure({ at: now - 1800, from: now - 3600 });
    expect(counted([moments(0, failure(), overlapping)])).toMatchObject([{ lostGpuSeconds: 8 * 3540 }]);
  });

  it("begin with a series at 0, so that `increase` sees the first", () => {
    const account = createFailureAccount(10_000, (team) => team);
    account.see(moments(-600), none);
    account.see(moments(0, failure()), none);
    expect(account.totals()).toMatchObject([{ failures: 0, lostGpuSeconds: 0 }]);
    account.see(moments(30, failure(), failure({ uid: "v" })), none);
    expect(account.totals()).toMatchObject([{ failures: 2 }]);
  });

  it("from before the first moment are for the ledger alone", () => {
    const account = createFailureAccount(10_000, (team) => team);
    expect(account.see(moments(0, failure()), none)).toMatchObject([{ pod: "train-0", lostGpuSeconds: 8 * 3600 }]);
    account.see(moments(30, failure()), none);
    expect(account.totals()).toEqual([]);
  });

  it.each([
    ["how many GPUs it had", { gpus: null }],
    ["when it began", { from: null }],
  ])("undo an unknown amount where nobody knows %s", (_what, parts) => {
    const account = createFailureAccount(10_000, (team) => team);
    expect(account.see(moments(0, failure(parts)), none)).toMatchObject([{ lostGpuSeconds: null }]);
  });

  it("have the XID error that a GPU of the pod showed then", () => {
    const shown = (at: number) => counted([moments(0, failure())], () => ({ error: "memory_fault", at }))[0]?.error;
    expect(shown(now - 30)).toBe("memory_fault");
    expect(shown(now - 90)).toBe("memory_fault");
    // An hour ago it was another program's, and the one that comes ten minutes later has another cause.
    expect(shown(now - 3700)).toBe("unknown");
    expect(shown(now + 600)).toBe("unknown");
    expect(counted([moments(0, failure())])[0]?.error).toBe("unknown");
  });

  it("never undo more than a pod had", () => {
    const run = fc.record({ at: fc.integer({ min: 0, max: 3000 }), ran: fc.integer({ min: 0, max: 3000 }) });
    fc.assert(
      fc.property(fc.array(run, { maxLength: 8 }), (runs) => {
        const failures = runs.map(({ at, ran }) => failure({ at: now - at, from: now - at - ran }));
        const lost = counted(failures.map((one, i) => moments(i, ...failures.slice(0, i + 1), one)));
        const longest = Math.max(0, ...failures.map(({ from }) => now - (from ?? now)));
        expect(lost.reduce((sum, { lostGpuSeconds }) => sum + lostGpuSeconds, 0)).toBeLessThanOrEqual(8 * longest);
      }),
    );
  });
});
