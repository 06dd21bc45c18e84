import { describe, expect, test } from "vitest";
import { readAdvice } from "../../../exporter/accounts/ledger/adviceWriter.ts";
import { createEntryWriter } from "../../../exporter/accounts/ledger/entryWriter.ts";
import { mergeEntries, withoutPostings } from "../../../exporter/accounts/ledger/mergeEntries.ts";
import { packEntry } from "../../../exporter/accounts/ledger/packedEntry.ts";
import { queryLedgerTable } from "../../../exporter/accounts/ledger/queryLedgerTable.ts";
import { createRetention } from "../../../exporter/accounts/ledger/retention.ts";
import type { StoredAdvice } from "../../../exporter/model/storedAdvice.ts";
import { entry, start } from "./entries.ts";
import { ledgerOf } from "./memoryLedger.ts";
import { openLedger, temporaryFile } from "./temporaryFolder.ts";

const day = 86_400;

function advice(parts: Partial<StoredAdvice> = {}): StoredAdvice {
  return {
    id: "r-1",
    firstSeenAt: start,
    kind: "reclaim",
    state: "open",
    closedAt: null,
    title: "give search 16 H100 back",
    fromTeam: "ads",
    forTeam: "search",
    queue: "search",
    pool: "H100",
    gainedGpusWorst: 16,
    gainedGpusBest: 16,
    lostGpuHours: 3,
    measuredGpus: null,
    measuredLostGpuHours: null,
    record: "{}",
    ...parts,
  };
}

const taken = advice({ state: "taken", closedAt: start + 600, measuredGpus: 14, measuredLostGpuHours: 2.5 });
const on = (days: number, ...given: readonly StoredAdvice[]) => ({
  ...entry({ from: start + days * day, to: start + days * day + 3600 }),
  advice: given,
});

describe("recommendations in the ledger", () => {
  test("are kept as they were reported last, one row for each lifetime", () => {
    const again = advice({ firstSeenAt: start + day });
    const db = ledgerOf([on(0, advice()), on(0.5, taken), on(1, again)]);
    expect(readAdvice(db)).toEqual([again, taken]);
  });

  test("are the same after entries were merged, and when their postings could not be kept", () => {
    const packed = [on(0, advice()), on(0.2, taken)].map(packEntry);
    const [first, second] = packed;
    if (first === undefined || second === undefined) throw new Error("there are two");
    const db = ledgerOf([]);
    createEntryWriter(db).write(1, withoutPostings(mergeEntries(first, second)));
    expect(readAdvice(db)).toEqual([taken]);
  });

  test("are read while they are open or dismissed, else for 30 days after they closed, and kept for as long as daily sums", () => {
    const late = advice({ id: "r-2", firstSeenAt: start + 39 * day, state: "expired", closedAt: start + 40 * day });
    const old = advice({ id: "r-3", firstSeenAt: start });
    const refused = advice({ id: "r-4", firstSeenAt: start - day, state: "dismissed", closedAt: start + 600 });
    const db = ledgerOf([on(0, taken, old, refused), on(40, late)]);
    expect(readAdvice(db)).toEqual([old, refused, late]);
    const count = () => db.prepare("SELECT count(*) AS n FROM recommendations").get();
    expect(count()).toEqual({ n: 4 });
    const retention = createRetention(db, { hourlyDays: 5, dailyDays: 12, workloadDays: 12 });
    while (retention.slice());
    expect(count()).toEqual({ n: 2 });
  });

  test("are added up: what was predicted, and what was measured of those that were taken", () => {
    const db = ledgerOf([on(0, taken, advice({ id: "r-2", gainedGpusWorst: 8, forTeam: "" }))]);
    const window = { from: start, to: start + day, where: new Map(), limit: 10 };
    const answered = queryLedgerTable(db, { of: "recommendations", groupBy: ["state", "forTeam"], ...window });
    expect(answered.ok && answered.answer.rows.map(({ values, amounts }) => [values, amounts])).toEqual([
      [
        ["taken", "search"],
        {
          recommendations: 1,
          predictedGpus: 16,
          predictedLostGpuHours: 3,
          takenPredictedGpus: 16,
          measuredGpus: 14,
          takenPredictedLostGpuHours: 3,
          measuredLostGpuHours: 2.5,
        },
      ],
      [
        ["open", null],
        {
          recommendations: 1,
          predictedGpus: 8,
          predictedLostGpuHours: 3,
          takenPredictedGpus: 0,
          measuredGpus: null,
          takenPredictedLostGpuHours: 0,
          measuredLostGpuHours: null,
        },
      ],
    ]);
  });

  test("are there when the file is opened again", async () => {
    const file = temporaryFile();
    const first = await openLedger(file);
    first.append(on(0, taken));
    await first.close();
    const second = await openLedger(file);
    expect(second.start.advice).toEqual([taken]);
    await second.close();
  });
});
