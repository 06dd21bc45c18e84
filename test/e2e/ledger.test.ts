import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, expect, test } from "vitest";
import { z } from "zod";
import { playCluster } from "../../cli/demo/playCluster.ts";
import { prepareLedger } from "../../cli/ledgerOutput.ts";
import { run } from "../../cli/run.ts";
import { configSchema } from "../../exporter/config/schema.ts";
import { gpuStates } from "../../exporter/model/gpuStates.ts";
import { demoScenario } from "../../simulator/scenarios/demo.ts";
import { captureIo } from "../cli/captureIo.ts";
import { expectClosedAccounts, latest, startAt } from "./accounting.ts";

const folder = mkdtempSync(path.join(tmpdir(), "fairlead-e2e-"));
const file = path.join(folder, "ledger.db");

afterAll(() => rmSync(folder, { recursive: true, force: true }));

const config = configSchema.parse({
  cluster: "ledger",
  teams: [{ from: "namespace-label", key: "team" }],
  ledger: { path: file },
});

/** One process on the same cluster: so many cycles of 30 s, then it ends. */
async function lifecycle(from: number, cycles: number): Promise<readonly (number | null)[]> {
  const ledger = await prepareLedger(config);
  if (!ledger.ok || ledger.output === null) throw new Error("a ledger is configured");
  const stack = { ledger: ledger.output };
  const cluster = await playCluster({ scenario: demoScenario(), seed: 7, startAt: from, config, stack });
  for (let n = 0; n <= cycles; n += 1) await cluster.step(n === 0 ? 0 : 30);
  expectClosedAccounts(latest(cluster));
  const idle = latest(cluster).snapshot.devices.map((device) => device.idleSince);
  await cluster.stop();
  await ledger.output.close();
  expect(ledger.output.problems()).toEqual([]);
  return idle;
}

async function fairlead(...args: readonly string[]): Promise<string> {
  const io = captureIo();
  const code = await run(["ledger", ...args], io);
  expect(code, io.stderr()).toBe(0);
  return io.stdout();
}

test("what two processes counted of a cluster is in one ledger, its sums add up, and the time between is a gap", async () => {
  await lifecycle(startAt, 10);
  const idle = await lifecycle(startAt + 360, 10);
  expect(await fairlead("check", file)).toContain("sound, and the accounts close");

  const window = ["--from", String(startAt), "--to", String(startAt + 3600)];
  const answer = JSON.parse(await fairlead("query", file, ...window, "--by", "state", "--output", "json"));
  expect(answer.coverage).toMatchObject({
    coveredSeconds: 600,
    gaps: [{ reason: "too-long" }, { reason: "after-last-entry" }],
  });
  // 176 GPUs, each of them in one state at every second that was covered.
  expect(answer.totals.gpuSeconds).toBeCloseTo(176 * 600, 3);
  for (const item of answer.items) expect(gpuStates).toContain(item.state);
  // The second process goes on with the idle windows of the first, which ended 60 s before it.
  expect(idle.filter((since) => since !== null && since <= startAt + 300).length).toBeGreaterThan(0);

  // An export has the same time and cost, and says what each price was for.
  const day = ["--from", "2026-11-16", "--to", "2026-11-17", "--format", "json"];
  const rows = z.array(exportedRow).parse(JSON.parse(await fairlead("export", file, ...day)));
  expect(rows.reduce((sum, row) => sum + row.gpuSeconds, 0)).toBeCloseTo(176 * 600, 3);
  expect(rows.filter((row) => row.workload !== null).length).toBeGreaterThan(10);
  const priced = rows.filter((row) => row.cost !== null);
  expect(priced.length).toBeGreaterThan(10);
  for (const row of priced) expect(row).toMatchObject({ priceBasis: "whole-instance", priceSource: "table" });
});

const exportedRow = z.object({
  gpuSeconds: z.number(),
  cost: z.number().nullable(),
  workload: z.string().nullable(),
  priceBasis: z.string().nullable(),
  priceSource: z.string().nullable(),
});
