import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { run } from "../../cli/run.ts";
import { captureIo } from "./captureIo.ts";

async function checked(text: string): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), "fairlead-"));
  try {
    const file = path.join(folder, "c.yaml");
    await writeFile(file, text);
    const io = captureIo();
    expect(await run(["check-config", file], io)).toBe(0);
    return io.stdout();
  } finally {
    await rm(folder, { recursive: true });
  }
}

describe("check-config", () => {
  it("warns of a rule by which whoever sends work to a queue bills its team", async () => {
    expect(await checked("teams: [{ from: namespace }, { from: queue }]\n")).toContain(
      "Warning: teams[1] takes the queue for the team: KAI and Volcano let any namespace send work to any queue, and its team is billed.",
    );
  });

  it("does not where the rule says which queues count in which namespaces, nor of other rules", async () => {
    const guarded = "teams: [{ from: queue, allowed: [{ namespace: ads-*, teams: [ads] }] }]\n";
    for (const text of [guarded, "teams: [{ from: namespace }]\n", "cluster: a\n"])
      expect(await checked(text)).not.toContain("Warning");
  });
});
