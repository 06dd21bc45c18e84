import { existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { run } from "../../../cli/run.ts";
import { focusColumns } from "../../../exporter/publish/focus/columns.ts";
import { account, entry, posting, start } from "../../accounts/ledger/entries.ts";
import { openLedger, temporaryFile } from "../../accounts/ledger/temporaryFolder.ts";
import { captureIo } from "../captureIo.ts";

const hour = 3600;

async function fairlead(...args: readonly string[]) {
  const io = captureIo();
  const code = await run(["ledger", "export", ...args], io);
  return { code, stdout: io.stdout(), stderr: io.stderr() };
}

/** A day of a team, of another in a currency of its own, and of nobody; an hour has no price. The ledger is being written. */
async function liveLedger(): Promise<string> {
  const file = temporaryFile();
  const ledger = await openLedger(file);
  const nobody = { team: null, queue: null, namespace: null, state: "free" } as const;
  ledger.append(
    entry({
      to: start + 12 * hour,
      postings: [
        posting({ gpuSeconds: 4 * hour, cost: 49 }),
        posting({ gpuSeconds: hour, cost: 12.25, account: account({ state: "idle" }) }),
        posting({ gpuSeconds: 2 * hour, cost: 8, account: account({ team: "b", currency: "credits" }) }),
        posting({ gpuSeconds: hour, cost: null, account: account({ team: "c", pool: "old", currency: null }) }),
        posting({ gpuSeconds: 2 * hour, cost: 24.5, workload: null, account: account(nobody) }),
      ],
    }),
  );
  await ledger.flush();
  return file;
}

const window = ["--from", "2026-11-02", "--to", "2026-11-03"];

describe("fairlead ledger export", () => {
  test("writes FOCUS rows, and says what they come to, what is not among them and why, and what is covered", async () => {
    const { code, stdout, stderr } = await fairlead(await liveLedger(), ...window);
    expect(code).toBe(0);
    const [heading, ...rows] = stdout.trimEnd().split("\r\n");
    expect(heading).toBe(focusColumns.join(","));
    expect(rows).toHaveLength(2);
    expect(rows[0]).toContain("h100 GPU time of a, charged by allocation");
    expect(rows[1]).toContain("h100 GPU time that was allocated to nobody (free)");
    expect(stderr).toContain("2 rows, USD 85.75");
    expect(stderr).toContain("1.0 GPU-hours (10.00 %) without a price");
    expect(stderr).toContain(
      "2.0 GPU-hours (20.00 %) in credits, because FOCUS wants an ISO 4217 currency. Next step: ",
    );
    expect(stderr).toContain("Covered: 50.00 % of the window");
  });

  test("writes all rows in Fairlead's own columns, as JSON and CSV", async () => {
    const file = await liveLedger();
    const json = await fairlead(file, ...window, "--format", "json", "--charge", "use");
    const rows: readonly unknown[] = JSON.parse(json.stdout);
    expect(rows).toHaveLength(5);
    expect(rows).toContainEqual({
      cluster: "default",
      from: "2026-11-02T00:00:00Z",
      to: "2026-11-03T00:00:00Z",
      team: "a",
      queue: "a",
      namespace: "a-jobs",
      workloadKind: "Job",
      workload: "train",
      priorityClass: null,
      pool: "h100",
      nodePool: "gpu",
      capacityType: "on-demand",
      state: "idle",
      isCharged: false,
      gpuSeconds: 3600,
      activeGpuSeconds: 0,
      estimatedGpuSeconds: 0,
      energyJoules: 9000,
      cost: 12.25,
      currency: "USD",
      priceBasis: null,
      priceSource: null,
      progressUnits: null,
      costPerProgressUnit: null,
    });
    expect(json.stderr).toContain("of them, 1.0 GPU-hours (10.00 %) have no price and no cost");
    const csv = await fairlead(file, ...window, "--format", "csv");
    expect(csv.stdout.split("\r\n")[0]).toMatch(/^cluster,from,to,team,/);
    expect(csv.stdout).toContain(
      ",a,a,a-jobs,Job,train,,h100,gpu,on-demand,charged,true,18000,14400,0,18000,61.25,USD,,,,\r\n",
    );
    const none = await fairlead(file, "--from", "2026-01-01", "--to", "2026-01-02", "--format", "json");
    expect(JSON.parse(none.stdout)).toEqual([]);
  });

  test("takes ledger, cluster and what is not charged from the configuration, and replaces a file when all is written", async () => {
    const file = await liveLedger();
    const config = path.join(path.dirname(file), "fairlead.yaml");
    writeFileSync(config, `cluster: prod\nledger: { path: ${file} }\ncost: { notCharged: [active] }\n`);
    const output = path.join(path.dirname(file), "focus.csv");
    writeFileSync(output, "what was there");
    const { code, stdout } = await fairlead(
      "--config.file",
      config,
      ...window,
      "--output",
      output,
      "--provider",
      "ML infra",
    );
    expect({ code, stdout }).toEqual({ code: 0, stdout: "" });
    const text = readFileSync(output, "utf8");
    expect(text).toContain("h100 GPU time allocated to a, not charged (active)");
    expect(text).toContain("prod/a-jobs/Job/train");
    expect(text).toContain(",ML infra,");
    expect(existsSync(`${output}.unfinished`)).toBe(false);
  });

  test.each([
    [[], "no ledger is named", "fairlead ledger export LEDGER"],
    [["/nonexistent/ledger.db"], "/nonexistent is no folder", "Create the folder"],
    [["--from", "monday"], '"monday" is not a time', "2026-11-21"],
    [["--to", "2026-11-02T02:00Z"], "cuts a day (UTC)", "--granularity hour"],
    [["--output", "/nonexistent/out.csv"], "cannot be written", "a folder that exists"],
  ])("refuses %j and says what to do", async (flags, error, nextStep) => {
    const named = flags[0]?.startsWith("--") === true ? [await liveLedger()] : [];
    const { code, stdout, stderr } = await fairlead(...named, ...window, ...flags);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toContain(error);
    expect(stderr.split("Next step: ")[1]).toContain(nextStep);
  });
});
