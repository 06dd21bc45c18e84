import { spawn } from "node:child_process";
import { once } from "node:events";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import type { LedgerEntry } from "../../../exporter/accounts/ledger/ledger.ts";
import { queryAccounts } from "../../../exporter/accounts/ledger/queryAccounts.ts";
import { createRandomStream } from "../../../simulator/random.ts";
import { cycleEntry, start } from "./entries.ts";
import { type Totals, totalsOfEntries, totalsOfLedger } from "./naiveTotals.ts";
import { openLedger, temporaryFile } from "./temporaryFolder.ts";

const kills = 50;
const child = fileURLToPath(new URL("./crashChild.ts", import.meta.url));

interface Life {
  readonly begun: readonly number[];
  readonly acknowledged: readonly number[];
}

/** Lets a child append until it has said so many lines (`null`: for so many milliseconds), then kills it at once. */
async function liveAndDie(file: string, first: number, from: number, lines: number | null, ms: number): Promise<Life> {
  const running = spawn(process.execPath, [child, file, String(first), String(from)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let text = "";
  running.stdout.setEncoding("utf8");
  running.stdout.on("data", (part: string) => {
    text += part;
    if (lines !== null && text.split("\n").length > lines) running.kill("SIGKILL");
  });
  if (lines === null) setTimeout(() => running.kill("SIGKILL"), ms);
  await once(running, "close");
  const of = (word: string): readonly number[] =>
    [...text.matchAll(new RegExp(`^${word} (\\d+) \\d+$`, "gm"))].map((match) => Number(match[1]));
  return { begun: of("begin"), acknowledged: of("done") };
}

test("killed fifty times while it writes, it loses nothing that was acknowledged and books nothing twice", async () => {
  const file = temporaryFile();
  const random = createRandomStream(50);
  const written: LedgerEntry[] = [];
  let before: Totals = new Map();
  let end = start;
  let gaps = 0;
  for (let kill = 0; kill < kills; kill += 1) {
    // Every process begins 100 s after the last entry. Some are killed while they open the file.
    const from = written.length === 0 ? start : end + 100;
    const lines = kill % 5 === 4 ? null : random.between(1, 40);
    const life = await liveAndDie(file, written.length, from, lines, random.between(20, 250));
    const begun = life.begun.map((n, i) => cycleEntry(n, from + 30 * i));

    const ledger = await openLedger(file);
    const last = ledger.start.lastInterval?.to ?? start;
    await ledger.close();
    const kept = begun.filter((entry) => entry.step.interval.to <= last);
    expect(kept.length).toBeGreaterThanOrEqual(life.acknowledged.length);
    expect(begun.length - kept.length).toBeLessThanOrEqual(1);
    if (kept.length > 0 && written.length > 0) gaps += 1;
    if (kept.length > 0) end = last;
    written.push(...kept);

    const db = new DatabaseSync(file, { readOnly: true });
    const totals = totalsOfLedger(db);
    expect(totals).toEqual(totalsOfEntries(written));
    for (const [key, seconds] of before) expect(totals.get(key)).toBeGreaterThanOrEqual(seconds);
    before = totals;
    const to = Math.ceil((end + 1) / 3600) * 3600;
    const result = queryAccounts(db, { from: start, to, groupBy: [], where: new Map(), limit: 1 });
    db.close();
    if (!result.ok) throw new Error(result.error);
    expect(result.answer.coverage.coveredSeconds).toBe(30 * written.length);
    expect(result.answer.coverage.gaps.filter((gap) => gap.reason === "too-long")).toHaveLength(gaps);
  }
  expect(written.length).toBeGreaterThan(kills);
}, 240_000);
