import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { type LedgerOutput, prepareLedger } from "../../cli/ledgerOutput.ts";
import { run } from "../../cli/run.ts";
import type { Habit } from "../../exporter/advice/usage/habit.ts";
import { habitRows, habitsIn } from "../../exporter/advice/usage/habitRows.ts";
import { loadConfig, parseConfig } from "../../exporter/config/load.ts";
import type { Config } from "../../exporter/config/schema.ts";
import { emptyMemory, type Memory } from "../../exporter/join/memory.ts";
import { entry, start } from "../accounts/ledger/entries.ts";
import { captureIo } from "./captureIo.ts";

const folders: string[] = [];

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function temporaryFolder(): string {
  const folder = mkdtempSync(path.join(tmpdir(), "fairlead-ledger-"));
  folders.push(folder);
  return folder;
}

function configWith(text: string): Config {
  const config = parseConfig(text);
  if (!config.ok) throw new Error(config.errors[0]?.message);
  return config.value;
}

async function prepared(config: Config): Promise<LedgerOutput> {
  const ledger = await prepareLedger(config);
  if (!ledger.ok || ledger.output === null) throw new Error("a ledger is configured");
  return ledger.output;
}

const idle = (at: number): Memory => ({
  ...emptyMemory,
  idleSince: new Map([["n/GPU-1", start]]),
  pendingSince: new Map([["uid", start]]),
  allocatedAt: new Map([["n/GPU-1", at]]),
});

describe("the ledger between cycles", () => {
  test("gives the next process what the last one knew, and the outputs what was counted", async () => {
    const config = configWith(`cluster: c\nledger: {path: ${path.join(temporaryFolder(), "ledger.db")}}`);
    const first = await prepared(config);
    expect(first.memory(start)).toEqual(emptyMemory);
    for (const at of [start + 30, start + 60]) first.onStep(entry({ from: at - 30 }).step, idle(at));
    await first.close();

    const second = await prepared(config);
    expect(second.memory(start + 90)).toEqual(idle(start + 60));
    expect(second.memory(start + 600)).toEqual({ ...idle(start + 60), idleSince: new Map() });
    // What is not there any more is forgotten by the ledger too, though this process never appended it.
    second.onStep(entry({ from: start + 90 }).step, emptyMemory);
    await second.close();

    const third = await prepared(config);
    expect(third.memory(start + 150)).toEqual(emptyMemory);
    const query = { from: start, to: start + 3600, groupBy: [], where: new Map(), limit: 1 };
    expect(await third.accounts.query(query)).toMatchObject({
      ok: true,
      answer: {
        totals: { gpuSeconds: 90 },
        coverage: { coveredSeconds: 90, gaps: [{ reason: "too-long" }, { reason: "after-last-entry" }] },
      },
    });
    expect(third.problems()).toEqual([]);
    await third.close();
  });

  test("keeps what is known of the habits of work, and forgets what is forgotten", async () => {
    const config = configWith(`cluster: c\nledger: {path: ${path.join(temporaryFolder(), "ledger.db")}}`);
    const habit: Habit = {
      firstSeenAt: start,
      seenAt: start + 90,
      hasWorked: true,
      longestReturnSeconds: 2400,
      spells: [
        { seconds: 2400, returned: true },
        { seconds: 700, returned: false },
      ],
    };
    const known = new Map([
      ["Job/ads/train", habit],
      ["Notebook/ads/lab", { ...habit, hasWorked: false, spells: [] }],
    ]);
    const first = await prepared(config);
    first.onStep(entry({ from: start }).step, emptyMemory, [], [], habitRows(known));
    await first.close();

    const second = await prepared(config);
    expect(habitsIn(second.remembered)).toEqual({ known, cluster: habit.spells });
    const gone = new Map([["Notebook/ads/lab", null]]);
    second.onStep(entry({ from: start + 30 }).step, emptyMemory, [], [], habitRows(gone));
    await second.close();

    const third = await prepared(config);
    expect([...habitsIn(third.remembered).known.keys()]).toEqual(["Job/ads/train"]);
    expect(third.problems()).toEqual([]);
    await third.close();
  });

  test("is none when none is configured", async () => {
    expect(await prepareLedger(configWith("cluster: c"))).toEqual({ ok: true, output: null });
  });

  test("is beside the configuration file, unless its path is absolute", async () => {
    const file = path.join(temporaryFolder(), "fairlead.yaml");
    writeFileSync(file, "cluster: c\nledger: {path: data/ledger.db}\n");
    const config = await loadConfig(file);
    expect(config.ok && config.value.ledger).toEqual({
      path: path.join(path.dirname(file), "data/ledger.db"),
      hourlyDays: 14,
      dailyDays: 400,
      workloadDays: 100,
    });
  });
});

test("serve does not start without the ledger that it is configured to keep, and says why", async () => {
  const folder = temporaryFolder();
  const file = path.join(folder, "fairlead.yaml");
  writeFileSync(file, "cluster: c\nledger: {path: ledger.db}\nkubernetes: {kubeconfig: kubeconfig}\n");
  writeFileSync(
    path.join(folder, "kubeconfig"),
    `apiVersion: v1
kind: Config
current-context: c
clusters: [{name: c, cluster: {server: "http://127.0.0.1:9"}}]
users: [{name: u, user: {}}]
contexts: [{name: c, context: {cluster: c, user: u}}]
`,
  );
  writeFileSync(path.join(folder, "ledger.db"), "notes about GPU-hours");
  const io = captureIo();
  expect(await run(["serve", "--config.file", file], io)).toBe(1);
  expect(io.stderr()).toBe(
    `fairlead: ledger ${path.join(folder, "ledger.db")} is not a SQLite file (21 bytes)\nNext step: Set ledger.path to another file, or move this one away; it was left as it is.\n`,
  );
});
