import path from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { LedgerEntry } from "../../exporter/accounts/ledger/ledger.ts";
import { mergeLedgers } from "../../exporter/accounts/ledger/mergeLedgers.ts";
import { start } from "../accounts/ledger/entries.ts";
import {
  answers,
  coveredHours,
  day,
  expectOneStreakAtATime,
  hours,
  ledgersOf,
  mergedOf,
  poolHours,
} from "../accounts/ledger/mergedLedger.ts";
import { replicaEntries, uptimes } from "../accounts/ledger/replicas.ts";
import { temporaryFolder } from "../accounts/ledger/temporaryFolder.ts";
import { filledLedger } from "../review/filledLedger.ts";
import { filled } from "../review/filler.ts";

// Generated lifecycles of replicas: seconds of work for each, so that they are here and not among the fast tests.

describe("the merged ledger of replicas", () => {
  test("has of each hour what the replica with more coverage of it counted, and nobody else", () => {
    fc.assert(
      fc.property(uptimes(hours), uptimes(hours), (one, other) => {
        const lives = [one, other].map((uptime, view) => replicaEntries(uptime, view));
        const files = ledgersOf(...lives);
        const target = mergedOf(files);
        expect(coveredHours(target)).toEqual(one.map((seconds, n) => Math.max(seconds, other[n] ?? 0)));
        const [mine, theirs] = files.map(poolHours);
        for (const [key, seconds] of poolHours(target)) {
          const n = Number(key.split(" ")[0]) - start / 3600;
          const isMine = (one[n] ?? 0) > (other[n] ?? 0);
          const isTheirs = (one[n] ?? 0) < (other[n] ?? 0);
          const allowed = [...(isTheirs ? [] : [mine?.get(key)]), ...(isMine ? [] : [theirs?.get(key)])];
          expect(allowed).toContain(seconds);
        }
        expectOneStreakAtATime(target);
      }),
      { numRuns: 12, seed: 11 },
    );
  });

  test("does not depend on the order in which they are named", () => {
    fc.assert(
      fc.property(uptimes(hours), uptimes(hours), uptimes(hours), (...lives) => {
        const files = ledgersOf(...lives.map((uptime, view) => replicaEntries(uptime, view)));
        const forth = answers(mergedOf(files, "forth.db"));
        expect(answers(mergedOf(files.toReversed(), "back.db"))).toEqual(forth);
      }),
      { numRuns: 5, seed: 12 },
    );
  });
});

describe("a ledger merged", () => {
  test("with itself is what it was: folded days, clocks set back, advice, streaks, prices and all", async () => {
    const file = path.join(temporaryFolder(), "ledger.db");
    const db = await filledLedger(file, 3, [
      { seed: 4, prefix: "", currencies: ["USD", "EUR"], hasLateWorkloads: true },
    ]);
    db.close();
    const target = path.join(path.dirname(file), "merged.db");
    expect(mergeLedgers([file, file], target)).toMatchObject({ ok: true });
    const [from, to] = [filled.from, Math.ceil(filled.to / day) * day];
    expect(answers(target, from, to)).toEqual(answers(file, from, to));
  }, 60_000);

  test("from two halves, one of which lacks some hours and the other the rest, has the numbers of the whole", () => {
    fc.assert(
      fc.property(
        uptimes(hours),
        fc.array(fc.boolean(), { minLength: hours, maxLength: hours }),
        fc.boolean(),
        (uptime, sides, isByDay) => {
          const entries = replicaEntries(
            uptime.map((seconds) => Math.max(30, seconds)),
            0,
          );
          const side = (one: LedgerEntry): boolean => {
            const n = (one.step.interval.from - start) / 3600;
            return sides[isByDay ? Math.floor(n / 24) : n] === true;
          };
          const [whole = "", ...halves] = ledgersOf(
            entries,
            entries.filter(side),
            entries.filter((one) => !side(one)),
          );
          const [of, expected] = [answers(mergedOf(halves)), answers(whole)];
          // What is kept by day is from one of them: it is whole if days are.
          const daily = isByDay ? [] : ["workloads", "jobs", "shapes", "waits by day", "serving by day"];
          const others = [...daily, "remembered", "entry", "pools"];
          const reported = (answer: ReturnType<typeof answers>) =>
            Object.fromEntries(Object.entries(answer).filter(([name]) => !others.includes(name)));
          expect(reported(of)).toEqual(reported(expected));
        },
      ),
      { numRuns: 8, seed: 13 },
    );
  });
});
