import { writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { run } from "../../../cli/run.ts";
import { account, entry, posting, start } from "../../accounts/ledger/entries.ts";
import { openLedger, temporaryFile } from "../../accounts/ledger/temporaryFolder.ts";
import { captureIo } from "../captureIo.ts";

const hour = 3600;

async function waterfall(...args: readonly string[]) {
  const io = captureIo();
  const code = await run(["waterfall", ...args], io);
  return { code, stdout: io.stdout(), stderr: io.stderr() };
}

/** An hour of four GPUs: one active, one idle, one free, one down under a pod of a team with a hostile name. */
async function ledgerFile(): Promise<string> {
  const file = temporaryFile();
  const ledger = await openLedger(file);
  const none = { team: null, queue: null, namespace: null };
  const of = (values: Parameters<typeof account>[0], cost: number | null) =>
    posting({ gpuSeconds: hour, account: account(values), cost, workload: null });
  ledger.append(
    entry({
      to: start + hour,
      postings: [
        of({ state: "active" }, 2.5),
        of({ state: "idle", team: "b" }, 2.5),
        of({ ...none, state: "free", currency: null }, null),
        of({ state: "unavailable", team: "\u001b[2Jevil" }, 2.5),
      ],
    }),
  );
  await ledger.close();
  return file;
}

const window = ["--from", "2026-11-02T00:00Z", "--to", "2026-11-02T01:00Z"];

describe("fairlead waterfall", () => {
  it("shows each level and what it loses, in 100 columns and without control characters", async () => {
    const file = await ledgerFile();
    const { code, stdout, stderr } = await waterfall("--ledger", file, ...window);
    expect([code, stderr]).toEqual([0, ""]);
    const lines = stdout.split("\n");
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(100);
    expect(stdout).not.toContain("\u001b");
    expect(stdout).toContain("Covered: 100 % of the window (1 h of 1 h)");
    const found = (name: string) =>
      lines
        .find((line) => line.trim().startsWith(name))
        ?.match(/[\d.]+/g)
        ?.map(Number);
    expect(found("capacity")).toEqual([4, 100, 7.5]);
    expect(found("- unavailable, allocated")).toEqual([1, 25, 2.5]);
    expect(found("ready")).toEqual([3, 75, 5]);
    expect(found("- free")).toEqual([1, 25, 0]);
    expect(found("allocated")).toEqual([2, 50, 5]);
    expect(found("active")).toEqual([1, 25, 2.5]);
    expect(stdout).toContain("1.0 GPU-hours have no price and are in no cost.");
  });

  it("gives the same as JSON, and as CSV", async () => {
    const file = await ledgerFile();
    const json = JSON.parse((await waterfall("--ledger", file, ...window, "--output", "json")).stdout);
    expect(json).toMatchObject({
      unpricedGpuSeconds: hour,
      coverage: { ratio: 1 },
      source: { kind: "ledger", name: file },
    });
    const csv = (await waterfall("--ledger", file, ...window, "-o", "csv")).stdout.split("\r\n");
    expect(csv[0]).toBe("level,drop,allocated,gpuSeconds,unpricedGpuSeconds,cost_USD");
    expect(csv).toContain("capacity,,,14400,3600,7.5");
    expect(csv).toContain("capacity,unavailable,true,3600,0,2.5");
  });

  it("of one team begins with what it held", async () => {
    const { stdout } = await waterfall("--ledger", await ledgerFile(), ...window, "--team", "b", "-o", "json");
    expect(JSON.parse(stdout).stages[0]).toMatchObject({ level: "capacity", gpuSeconds: hour });
  });

  it("asks the ledger that a configuration names", async () => {
    const file = await ledgerFile();
    const config = path.join(path.dirname(file), "fairlead.yaml");
    writeFileSync(config, `cluster: harbor\nledger: { path: ${JSON.stringify(file)} }\n`);
    expect((await waterfall("--config.file", config, ...window)).code).toBe(0);
    writeFileSync(config, "cluster: harbor\n");
    const { code, stderr } = await waterfall("--config.file", config, ...window);
    expect(code).toBe(1);
    expect(stderr).toContain("neither history.prometheus nor a ledger");
  });

  it.each([
    [[], "nothing says where the past is kept"],
    [["--ledger", "/none.db", "--prometheus", "http://127.0.0.1:1"], "several places"],
    [["--ledger", "/does/not/exist.db"], "exist.db"],
    [["--prometheus", "ftp://server"], "not the address of a server"],
    [["--prometheus", "http://127.0.0.1:1"], "127.0.0.1:1"],
    [["--ledger", "/none.db", "--from", "soon"], "not a time"],
  ])("refuses %j with a next step", async (args, error) => {
    const { code, stdout, stderr } = await waterfall(...args);
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toContain(error);
    expect(stderr).toContain("Next step: ");
  });
});
