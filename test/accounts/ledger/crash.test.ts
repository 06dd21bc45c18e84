import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { afterEach, expect, test, vi } from "vitest";
import { queryAccounts } from "../../../exporter/accounts/ledger/queryAccounts.ts";
import { createRandomStream } from "../../../simulator/random.ts";
import { cycleEntry, start } from "./entries.ts";
import { addEntries, differences, type Totals, totalsOfLedger } from "./naiveTotals.ts";
import { openLedger, temporaryFile, temporaryFolder } from "./temporaryFolder.ts";

const kills = 50;
const beside = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

/** A child is killed when it has said so many lines, or so long after it began to open the file. */
type KillAt = { readonly lines: number } | { readonly msOfOpening: number };

interface Lifecycle {
  /** The end of the last interval that the ledger remembered, as the process says it; `null` if it came to say nothing. */
  readonly remembered: string | null;
  readonly begun: readonly number[];
  readonly acknowledged: readonly number[];
}

/** Lets a child append until then, and kills it at once. */
async function liveAndDie(file: string, first: number, from: number, killAt: KillAt): Promise<Lifecycle> {
  const running = spawn(process.execPath, [beside("crashChild.ts"), file, String(first), String(from)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let text = "";
  let opening = false;
  running.stdout.setEncoding("utf8");
  running.stdout.on("data", (part: string) => {
    text += part;
    if ("lines" in killAt) {
      const said = text.slice(text.indexOf("begin"));
      if (said.startsWith("begin") && said.split("\n").length > killAt.lines) running.kill("SIGKILL");
    } else if (!opening && text.startsWith("opening\n")) {
      opening = true;
      setTimeout(() => running.kill("SIGKILL"), killAt.msOfOpening);
    }
  });
  const [, signal] = await once(running, "close");
  if (signal !== "SIGKILL") throw new Error(`the process ended by itself, after it said ${JSON.stringify(text)}`);
  const of = (word: string): readonly number[] =>
    [...text.matchAll(new RegExp(`^${word} (\\d+) \\d+$`, "gm"))].map((match) => Number(match[1]));
  const remembered = /^opened (\w+)$/m.exec(text)?.[1] ?? null;
  return { remembered, begun: of("begin"), acknowledged: of("done") };
}

/** The end of the last interval that is in the file; `null` where none is, or not even its table. */
function lastEnd(db: DatabaseSync): number | null {
  const { n } = db.prepare("SELECT count(*) AS n FROM sqlite_schema WHERE name = 'intervals'").get() ?? {};
  if (n === 0) return null;
  const { ends } = db.prepare("SELECT ends FROM intervals ORDER BY id DESC LIMIT 1").get() ?? {};
  return ends === undefined ? null : Number(ends);
}

afterEach(() => vi.unstubAllEnvs());

test("killed fifty times while it writes, it loses nothing that was acknowledged and accounts nothing twice", async () => {
  // A killed process leaves no compiled code behind, so one that is not killed does: most of a start was compiling.
  vi.stubEnv("NODE_COMPILE_CACHE", temporaryFolder());
  expect(spawnSync(process.execPath, [beside("openChild.ts"), temporaryFile()], { encoding: "utf8" }).stdout).toBe(
    "null",
  );

  const file = temporaryFile();
  const random = createRandomStream(50);
  const written = new Map<string, number>();
  let cycles = 0;
  let before: Totals = new Map();
  let end: number | null = null;
  let gaps = 0;
  for (let kill = 0; kill < kills; kill += 1) {
    // Every process begins 100 s after the last entry. Some are killed while they open the file.
    const from: number = end === null ? start : end + 100;
    const opens = kill % 5 === 4;
    const killAt = opens ? { msOfOpening: random.between(0, 40) } : { lines: random.between(1, 40) };
    const lifecycle = await liveAndDie(file, cycles, from, killAt);
    if (lifecycle.remembered !== null) expect(lifecycle.remembered).toBe(String(end ?? "empty"));
    const begun = lifecycle.begun.map((n, i) => cycleEntry(n, from + 30 * i));

    // The file stays as the crash left it: only the next process opens it to write.
    const db = new DatabaseSync(file, { readOnly: true });
    const last = lastEnd(db);
    const kept = last === null ? [] : begun.filter((entry) => entry.step.interval.to <= last);
    expect(kept.length).toBeGreaterThanOrEqual(lifecycle.acknowledged.length);
    expect(begun.length - kept.length).toBeLessThanOrEqual(1);
    if (kept.length > 0 && cycles > 0) gaps += 1;
    if (kept.length > 0) end = last;
    addEntries(written, kept);
    cycles += kept.length;

    const totals = totalsOfLedger(db);
    expect(differences(totals, written)).toEqual([]);
    expect([...before].filter(([key, seconds]) => (totals.get(key) ?? 0) < seconds)).toEqual([]);
    before = totals;
    const to = Math.ceil(((end ?? start) + 1) / 3600) * 3600;
    const result = queryAccounts(db, { from: start, to, groupBy: [], where: new Map(), limit: 1 });
    db.close();
    if (!result.ok) throw new Error(result.error);
    expect(result.answer.coverage.coveredSeconds).toBe(30 * cycles);
    expect(result.answer.coverage.gaps.filter((gap) => gap.reason === "too-long")).toHaveLength(gaps);
  }
  expect(cycles).toBeGreaterThan(kills);
  const ledger = await openLedger(file, { closeMilliseconds: 60_000 });
  expect(ledger.start.lastInterval?.to).toBe(end);
});
