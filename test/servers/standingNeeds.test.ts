import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { playCluster } from "../../cli/demo/playCluster.ts";
import { prepareLedger } from "../../cli/ledgerOutput.ts";
import { createLedgerReader } from "../../exporter/accounts/ledger/ledgerReader.ts";
import { configSchema } from "../../exporter/config/schema.ts";
import type { Recommendation } from "../../exporter/model/recommendation.ts";
import { demoScenario } from "../../simulator/scenarios/demo.ts";
import { latest } from "../e2e/accounting.ts";
import { recommendationsNow } from "../e2e/advice/closedLoop.ts";
import { reviewOfMonth } from "../e2e/review/compareMonth.ts";

/** A review is of whole days (UTC). */
const startAt = Date.UTC(2026, 10, 16) / 1000;
const hours = 24;
/** Long cycles, so that a day takes seconds: what comes and goes between two of them is not seen. */
const interval = 600;

const folder = mkdtempSync(path.join(tmpdir(), "fairlead-needs-"));
const file = path.join(folder, "ledger.db");
const config = configSchema.parse({
  cluster: "demo",
  interval,
  ledger: { path: file },
  teams: [{ from: "namespace-label", key: "team" }],
});

/** Every record that was seen, by id and first detection, as it was in each cycle in which it was another than before. */
const seen = new Map<string, Recommendation[]>();
/** Ends of names that the simulator made up. */
const madeUp = new Set<string>();

beforeAll(async () => {
  const prepared = await prepareLedger(config);
  if (!prepared.ok || prepared.output === null) throw new Error("a ledger is configured");
  const ledger = prepared.output;
  const cluster = await playCluster({ scenario: demoScenario(), seed: 3, startAt, config, stack: { ledger } });
  await cluster.step(0);
  for (let passed = 0; passed < hours * 3600; passed += interval) {
    await cluster.step(interval);
    for (const one of recommendationsNow(cluster)) note(one);
    const { pods, exporterPods } = latest(cluster).snapshot;
    for (const { name } of [...pods, ...exporterPods])
      for (const part of name.split("-").slice(1)) if (/^[a-z0-9]{5}$/.test(part) && !words.has(part)) madeUp.add(part);
  }
  await cluster.stop();
  await ledger.close();
}, 900_000);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Parts of names that the scenario itself gives. */
const words = new Set(
  demoScenario()
    .habits.flatMap(({ name }) => name.split("-"))
    .concat("large", "small"),
);

function note(one: Recommendation): void {
  const key = `${one.id} ${one.firstSeenAt}`;
  const known = seen.get(key) ?? [];
  const last = known.at(-1);
  if (last?.state !== one.state || last.title !== one.title || last.targets.join() !== one.targets.join())
    seen.set(key, [...known, one]);
}

/** What a person would call the need: what kind of thing is to be done, for whom, on which GPUs. */
const needOf = ({ kind, beneficiary, pool }: Recommendation): string =>
  `${kind} for ${beneficiary.kind} ${beneficiary.name} in ${pool}`;

test("in a day of the demo in which nobody acts each need has one id and one record", async () => {
  const records = [...seen.values()].map(([first]) => first).filter((one) => one !== undefined);
  const needs = new Set(records.map(needOf));
  expect(needs.size).toBeGreaterThan(3);
  expect(records).toHaveLength(needs.size);
  expect(new Set(records.map(({ id }) => id)).size).toBe(needs.size);
  for (const states of seen.values()) expect(new Set(states.map(needOf)).size).toBe(1);
  const accounts = createLedgerReader(file);
  const answer = await accounts.queryAdvice({ from: startAt, to: startAt + hours * 3600 + 1, limit: 1000 });
  await accounts.close();
  expect(answer).toMatchObject({ ok: true, answer: { totalRows: needs.size } });
});

test("what is to be done changes meanwhile under the same id, and nothing was taken", () => {
  const all = [...seen.values()];
  const targets = all.map((states) => new Set(states.map((one) => one.targets.join())).size);
  expect(Math.max(...targets)).toBeGreaterThan(10);
  for (const { state } of all.flat()) expect(["open", "expired"]).toContain(state);
});

test("what ends says why: of what was only replaced that it was, and of everything else what the cluster shows", () => {
  const ended = [...seen.values()].flat().filter(({ state }) => state === "expired");
  expect(ended.length).toBeGreaterThan(0);
  for (const { closedBecause, replacedBy } of ended) {
    if (replacedBy === null) expect(closedBecause).toMatch(/^it was not found again: .{10}/);
    else expect(closedBecause).toBe(`replaced by ${replacedBy}`);
    expect(closedBecause).not.toMatch(/or is not known any more/);
  }
});

test("a review of that day says what was advised about nodes that were idle for hours, or why nothing was", async () => {
  const to = startAt + hours * 3600;
  const review = await reviewOfMonth(file, { kind: "span", label: "a day of the demo", from: startAt, to });
  const idle = (review.idleNodes?.streaks ?? []).filter(
    ({ state, hours: long }) => state === "idle_unallocated" && long >= 3,
  );
  expect(idle.length).toBeGreaterThan(0);
  const advised = [...seen.values()].flat().filter(({ kind }) => kind === "scale_in");
  const isAdvised = (nodePool: string) => advised.some(({ beneficiary }) => beneficiary.name === nodePool);
  const whyNot = (nodePool: string) =>
    review.notAdvised?.find(({ kind, subject }) => kind === "scale_in" && subject === nodePool);
  // A reason that was, and not only the word that none was kept.
  for (const { nodePool } of idle)
    expect(isAdvised(nodePool) || (whyNot(nodePool)?.hours ?? 0) > 1, nodePool).toBe(true);
  for (const { nodePool, state, costs } of review.idleNodes?.pools ?? [])
    if (state === "idle_unallocated" && Object.values(costs).some((cost) => cost > 0))
      expect(isAdvised(nodePool) || whyNot(nodePool) !== undefined, nodePool).toBe(true);
});

test("titles have no generated names", () => {
  expect(madeUp.size).toBeGreaterThan(50);
  for (const { title } of [...seen.values()].flat())
    for (const part of title.split(/[^a-z0-9]+/)) expect(madeUp.has(part), title).toBe(false);
});
