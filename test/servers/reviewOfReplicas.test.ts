import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { reviewCommand } from "../../cli/review/reviewCommand.ts";
import { run } from "../../cli/run.ts";
import { coverageOf } from "../../exporter/accounts/ledger/intervalLog.ts";
import { type Config, configSchema } from "../../exporter/config/schema.ts";
import { reviewSchema } from "../../review/document/review.ts";
import { demoScenario } from "../../simulator/scenarios/demo.ts";
import { type Simulator, startSimulator } from "../../simulator/simulator.ts";
import { captureIo } from "../cli/captureIo.ts";
import { type PlayedReplica, startPlayedReplica } from "./playedReplica.ts";

// Two replicas of one Fairlead watch the same cluster, and each is away for a while; a third one, which is always there, knows
// what they should say.

const midnight = Date.parse("2026-11-16T00:00:00Z") / 1000;
const hour = 3600;
const hours = 5;
/** Between two cycles. */
const cycleSeconds = 120;
const stepMinutes = cycleSeconds / 60;

/** Minutes [from, to) in which a replica is not there. From 196 to 216 neither is. */
const away: Readonly<Record<string, readonly (readonly [number, number])[]>> = {
  a: [
    [70, 130],
    [180, 216],
  ],
  b: [
    [146, 160],
    [196, 216],
  ],
  third: [],
};

const folder = mkdtempSync(path.join(tmpdir(), "fairlead-two-ledgers-"));
const file = (name: string): string => path.join(folder, `${name}.db`);
const running = new Map<string, PlayedReplica>();
let simulator: Simulator;

const configOf = (name: string): Config =>
  configSchema.parse({
    cluster: "harbor",
    interval: cycleSeconds,
    teams: [{ from: "namespace-label", key: "team" }],
    ledger: { path: file(name) },
  });

const isAway = (name: string, minute: number): boolean =>
  away[name]?.some(([from, to]) => minute >= from && minute < to) === true;

beforeAll(async () => {
  simulator = await startSimulator({ scenario: demoScenario(), seed: 7, startAt: midnight });
  for (let minute = 0; minute <= hours * 60; minute += stepMinutes) {
    if (minute > 0) simulator.advance(cycleSeconds);
    for (const name of ["a", "b", "third"] as const) {
      const replica = running.get(name);
      if (isAway(name, minute)) {
        await replica?.stop();
        running.delete(name);
        continue;
      }
      const present = replica ?? (await startPlayedReplica({ simulator, config: configOf(name) }));
      running.set(name, present);
      await present.cycle();
    }
  }
  const io = captureIo();
  expect(await run(["ledger", "merge", file("a"), file("b"), "--output", file("merged")], io), io.stderr()).toBe(0);
}, 900_000);

afterAll(async () => {
  await Promise.all([...running.values()].map((replica) => replica.stop()));
  await simulator.stop();
  rmSync(folder, { recursive: true, force: true });
});

function read<Result>(name: string, work: (db: DatabaseSync) => Result): Result {
  const db = new DatabaseSync(file(name), { readOnly: true });
  try {
    return work(db);
  } finally {
    db.close();
  }
}

const covered = (name: string, n: number): number =>
  read(name, (db) => coverageOf(db, midnight + n * hour, midnight + (n + 1) * hour).coveredSeconds);

/** GPU time of one hour by account, as the ledger has it. */
const accounted = (name: string, n: number) =>
  read(name, (db) =>
    db
      .prepare(
        `SELECT a.pool, a.node_pool, a.capacity_type, a.team, a.queue, a.namespace, a.priority_class, a.state, a.currency,
           t.gpu_seconds, t.estimated_gpu_seconds, t.energy_joules, t.cost
         FROM gpu_time t JOIN accounts a ON a.id = t.account WHERE t.hour = ? ORDER BY 1, 2, 3, 4, 5, 6, 7, 8, 9`,
      )
      .all(midnight / hour + n),
  );

async function review(places: { readonly urls?: readonly string[]; readonly ledger?: string }) {
  const io = captureIo();
  const window = { week: null, month: null, from: "2026-11-16", to: "2026-11-17" };
  const exporters = (places.urls ?? []).map((url) => ({ url, username: null, passwordFile: null, caFile: null }));
  const code = await reviewCommand(
    {
      window,
      team: null,
      compare: 0,
      format: "json",
      output: null,
      merge: [],
      summary: null,
      exporter: null,
      places: {
        ledger: places.ledger ?? null,
        prometheus: null,
        configFile: null,
        cluster: places.ledger ? "harbor" : null,
      },
      replicas: exporters.length === 0 ? null : { kind: "running", exporters },
    },
    midnight + 2 * 86_400,
    io,
  );
  return { code, err: io.stderr(), out: io.stdout() };
}

const urlOf = (name: string): string => running.get(name)?.url ?? "";
const reviewIn = (text: string) => reviewSchema.parse(JSON.parse(text));

test("each hour of the merged ledger is that of the replica that covered more of it, and as long as that", async () => {
  const io = captureIo();
  expect(await run(["ledger", "check", file("merged")], io), io.stderr()).toBe(0);
  for (let n = 0; n < hours; n += 1) {
    const [a, b, merged] = ["a", "b", "merged"].map((name) => covered(name, n));
    expect(merged).toBeCloseTo(Math.max(a ?? 0, b ?? 0), 6);
    const sources = ["a", "b"].filter((name) => covered(name, n) === merged).map((name) => accounted(name, n));
    expect(sources.map((rows) => JSON.stringify(rows))).toContain(JSON.stringify(accounted("merged", n)));
    const physical = accounted("merged", n).reduce((sum, row) => sum + Number(row.gpu_seconds), 0);
    expect(physical).toBeCloseTo(176 * (merged ?? 0), 3);
  }
  // All of them are played: both whole, one of them whole, and both in part.
  const played = Array.from({ length: hours }, (_, n) =>
    ["a", "b", "merged"].map((name) => Math.round(covered(name, n))),
  );
  expect(played).toEqual([
    [hour, hour, hour],
    [480, hour, hour],
    [2880, 2640, 2880],
    [1440, 2280, 2280],
    [hour, hour, hour],
  ]);
});

/**
 * GPU-seconds and cost of one hour by whoever held the GPUs. How busy they were is left out: what is idle or underutilized is
 * known only after some time without a break, which a replica that was away has not seen.
 */
function allocatedIn(name: string, n: number) {
  const allocated = new Map<string, number>();
  for (const row of accounted(name, n)) {
    const holder = JSON.stringify([row.pool, row.node_pool, row.capacity_type, row.team, row.namespace, row.currency]);
    allocated.set(`${holder} GPU-seconds`, (allocated.get(`${holder} GPU-seconds`) ?? 0) + Number(row.gpu_seconds));
    if (row.cost !== null) allocated.set(`${holder} cost`, (allocated.get(`${holder} cost`) ?? 0) + Number(row.cost));
  }
  return [...allocated].map(([key, amount]) => [key, Number(amount.toPrecision(9))]).sort();
}

test("where a replica covered all of an hour, it says the same about who held what as the one that was always there", () => {
  const whole = Array.from({ length: hours }, (_, n) => n).filter((n) => Math.abs(covered("merged", n) - hour) < 1e-6);
  expect(whole).toEqual([0, 1, 4]);
  for (const n of whole) expect(allocatedIn("merged", n)).toEqual(allocatedIn("third", n));
});

test("the review of both over HTTP is that of the merged ledger, and agrees with the one that was always there", async () => {
  // A folder of its own for what it fetches: other tests that run at the same time have theirs in the machine's.
  const temporary = mkdtempSync(path.join(folder, "tmp-"));
  vi.stubEnv("TMPDIR", temporary);
  const { code, out, err } = await review({ urls: [urlOf("a"), urlOf("b")] });
  vi.unstubAllEnvs();
  expect([code, code === 0 ? "" : err]).toEqual([0, ""]);
  const both = reviewIn(out);
  expect(both).toEqual(reviewIn((await review({ ledger: file("merged") })).out));
  expect(both.clusters).toEqual(["harbor"]);
  const seconds = Array.from({ length: hours + 1 }, (_, n) => covered("merged", n));
  expect(both.coverage.coveredSeconds).toBeCloseTo(
    seconds.reduce((sum, one) => sum + one, 0),
    3,
  );
  const third = reviewIn((await review({ ledger: file("third") })).out);
  expect(third.coverage.coveredSeconds).toBeCloseTo(hours * hour, 3);
  // What neither covered is missing in amounts, and not in ratios and means.
  const part = both.coverage.coveredSeconds / third.coverage.coveredSeconds;
  const value = (of: typeof both, id: string): number => of.tiles.find((tile) => tile.id === id)?.value ?? Number.NaN;
  expect(value(both, "capacity")).toBeCloseTo(part * value(third, "capacity"), 6);
  // What was allocated differs in the time that is missing.
  for (const id of ["allocated", "active", "cost"]) {
    expect(value(both, id) / (part * value(third, id))).toBeGreaterThan(0.8);
    expect(value(both, id) / (part * value(third, id))).toBeLessThan(1.25);
  }
  expect(both.terms.totalGpus).toBeCloseTo(third.terms.totalGpus ?? 0, 6);
  expect(readdirSync(temporary)).toEqual([]);
});

test("a replica that does not answer is left out, and the rest is still a review", async () => {
  const { code, out, err } = await review({ urls: [urlOf("a"), "http://127.0.0.1:9"] });
  expect(code).toBe(0);
  expect(err).toContain("left out: http://127.0.0.1:9");
  const seconds = Array.from({ length: hours + 1 }, (_, n) => covered("a", n)).reduce((sum, one) => sum + one, 0);
  expect(reviewIn(out).coverage.coveredSeconds).toBeCloseTo(seconds, 3);
  const none = await review({ urls: ["http://127.0.0.1:9", "http://127.0.0.1:10"] });
  expect([none.code, none.out]).toEqual([1, ""]);
  expect(none.err).toContain("no replica has given its ledger");
});
