import { existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import type { Io } from "../../../cli/io.ts";
import { run } from "../../../cli/run.ts";
import { checkLedger } from "../../../exporter/accounts/ledger/checkLedger.ts";
import { createLedgerCopies } from "../../../exporter/accounts/ledger/ledgerCopies.ts";
import type { Outputs } from "../../../exporter/publish/http/outputs.ts";
import { readLedger, replicaEntries, type Uptime, writeLedger } from "../../accounts/ledger/replicas.ts";
import { temporaryFile, temporaryFolder } from "../../accounts/ledger/temporaryFolder.ts";
import { scriptedAdviser, startAdvised } from "../../publish/adviceServer.ts";
import { captureIo } from "../captureIo.ts";

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  await Promise.all(closing.splice(0).map((close) => close()));
});

async function fairlead(args: readonly string[], door: Partial<Io> = {}) {
  const io = captureIo();
  const chunks: Uint8Array[] = [];
  const outBytes = async (bytes: Uint8Array): Promise<void> => void chunks.push(bytes);
  const code = await run(args, { ...io, outBytes, ...door });
  return { code, out: io.stdout(), err: io.stderr(), bytes: Buffer.concat(chunks) };
}

/** The ledger of a replica that was up for so long in these hours. */
function ledgerOf(view: number, ...uptime: Uptime): string {
  const file = temporaryFile();
  writeLedger(file, replicaEntries(uptime, view));
  return file;
}

async function serving(file: string, cluster: string, outputs: Partial<Outputs> = {}): Promise<string> {
  const ledgerBackup = createLedgerCopies(file);
  const server = await startAdvised(scriptedAdviser().adviser, { ledgerBackup, cluster, users: {}, ...outputs });
  closing.push(server.close);
  return server.url;
}

describe("fairlead ledger backup", () => {
  test.each([[["-"]], [["--output", "-"]]])(
    "writes the copy to standard output with %j, and words beside it",
    async (target) => {
      const file = ledgerOf(0, 3600, 3600);
      const { code, out, err, bytes } = await fairlead(["ledger", "backup", file, ...target]);
      expect([code, out]).toEqual([0, ""]);
      expect(err).toMatch(/^fairlead: standard output is a copy of .*ledger\.db \(\d+\.\d MB\), checked\n$/);
      const copy = path.join(temporaryFolder(), "copy.db");
      writeFileSync(copy, bytes);
      expect(readLedger(copy, checkLedger)).toEqual(readLedger(file, checkLedger));
    },
  );

  test("writes none to a terminal", async () => {
    const { code, err, bytes } = await fairlead(["ledger", "backup", ledgerOf(0, 3600), "-"], { isTerminal: true });
    expect([code, bytes.length]).toEqual([1, 0]);
    expect(err).toContain("Next step: Send standard output into a file (> ledger.db).");
  });

  test("fetches the ledger of a running exporter, as its user", async () => {
    const file = ledgerOf(0, 3600);
    const folder = temporaryFolder();
    const [target, password] = [path.join(folder, "copy.db"), path.join(folder, "password")];
    writeFileSync(password, "secret\n");
    const server = await startAdvised(scriptedAdviser().adviser, {
      ledgerBackup: createLedgerCopies(file),
    });
    closing.push(server.close);
    const args = ["ledger", "backup", "--url", server.url, "--output", target];
    const stranger = await fairlead(args);
    expect([stranger.code, existsSync(target)]).toEqual([1, false]);
    expect(stranger.err).toContain("Give --username and --password-file.");
    const user = ["--username", "kim", "--password-file", password];
    const { code, out, err } = await fairlead([...args, ...user]);
    expect([code, code === 0 ? "" : err]).toEqual([0, ""]);
    expect(out).toContain(`${target} is a copy of the ledger of ${server.url}`);
    expect(readLedger(target, checkLedger)).toEqual(readLedger(file, checkLedger));
    const again = await fairlead([...args, ...user]);
    expect([again.code, again.err]).toEqual([1, expect.stringContaining("is there already")]);
  });

  test.each([
    [["FILE"], 2, "say what is copied"],
    [["FILE", "copy.db", "--output", "other.db"], 2, "say what is copied"],
    [["FILE", "--url", "http://127.0.0.1:9", "--output", "copy.db"], 2, "say what is copied"],
    [["--url", "http://127.0.0.1:9", "--output", "copy.db"], 1, "http://127.0.0.1:9"],
  ])("%j: refuses", async (args, expected, error) => {
    const { code, err } = await fairlead(["ledger", "backup", ...args]);
    expect(code).toBe(expected);
    expect(err).toContain(error);
    expect(err).toContain("Next step: ");
  });

  test("says what an exporter without a ledger says, and what something else sends", async () => {
    const bare = await startAdvised(scriptedAdviser().adviser, { users: {} });
    closing.push(bare.close);
    const target = path.join(temporaryFolder(), "copy.db");
    const none = await fairlead(["ledger", "backup", "--url", bare.url, "--output", target]);
    expect([none.code, none.err]).toEqual([1, expect.stringContaining("no ledger is kept")]);
    const text = temporaryFile();
    writeFileSync(text, "this is no ledger");
    const bytes = readFileSync(text);
    const { Readable } = await import("node:stream");
    const copy = { bytes: bytes.length, read: () => Readable.from([bytes]), close: async () => {} };
    const url = await serving(text, "c", { ledgerBackup: { take: async () => ({ ok: true, copy }) } });
    const wrong = await fairlead(["ledger", "backup", "--url", url, "--output", target]);
    expect([wrong.code, existsSync(target), existsSync(`${target}.unfinished`)]).toEqual([1, false, false]);
    expect(wrong.err).toContain("sent no sound ledger");
  });
});

describe("fairlead ledger merge", () => {
  test("makes one ledger of several, and says how much is whose", async () => {
    const [one, other] = [ledgerOf(0, 3600, 0, 3600), ledgerOf(1, 3600, 3600, 1800)];
    const target = path.join(temporaryFolder(), "merged.db");
    const { code, out, err } = await fairlead(["ledger", "merge", one, other, "--output", target]);
    expect([code, err]).toEqual([0, ""]);
    expect(out.split("\n")).toEqual([
      expect.stringMatching(/^fairlead: .*merged\.db is made of 2 ledgers \(\d+\.\d MB\), checked$/),
      `  1.0 h of ${one}, which covers 2.0 h`,
      `  2.0 h of ${other}, which covers 2.5 h`,
      "",
    ]);
    expect((await fairlead(["ledger", "check", target])).code).toBe(0);
    const again = await fairlead(["ledger", "merge", one, other, "--output", target]);
    expect([again.code, again.err]).toEqual([1, expect.stringContaining("a merge never replaces a file")]);
  });

  test("refuses one ledger alone", async () => {
    const { code, err } = await fairlead(["ledger", "merge", "a.db", "--output", "b.db"]);
    expect([code, err]).toEqual([1, expect.stringContaining("merged with nothing")]);
  });
});

describe("fairlead review of several replicas", () => {
  const window = ["--from", "2026-11-02", "--to", "2026-11-03", "--compare", "0", "--format", "json"];
  const day = Array.from({ length: 24 }, () => 3600);
  const without = (from: number, to: number): Uptime => day.map((seconds, n) => (n >= from && n < to ? 0 : seconds));

  test("is that of the merged ledger, whether files or running replicas are named; they say the cluster", async () => {
    const files = [ledgerOf(0, ...without(3, 8)), ledgerOf(1, ...without(5, 20))];
    const target = path.join(temporaryFolder(), "merged.db");
    await fairlead(["ledger", "merge", ...files, "--output", target]);
    const expected = await fairlead(["review", "--ledger", target, "--cluster", "harbor", ...window]);
    expect(expected.err).not.toContain("Next step");
    const reported = (text: string): unknown => ({ ...JSON.parse(text), writtenAt: null });
    const ofFiles = await fairlead(["review", "--ledger", ...files, "--cluster", "harbor", ...window]);
    expect(reported(ofFiles.out)).toEqual(reported(expected.out));
    const urls = await Promise.all(files.map((file) => serving(file, "harbor")));
    const ofReplicas = await fairlead(["review", "--url", ...urls, ...window]);
    expect(reported(ofReplicas.out)).toEqual(reported(expected.out));
    expect(JSON.parse(expected.out)).toMatchObject({ coverage: { coveredSeconds: 21 * 3600 }, clusters: ["harbor"] });
    // One that is not there is said, and missing in the coverage.
    const left = await fairlead(["review", "--url", urls[0] ?? "", "http://127.0.0.1:9", ...window]);
    expect([left.code, left.err]).toEqual([0, expect.stringContaining("left out: http://127.0.0.1:9")]);
    expect(JSON.parse(left.out)).toMatchObject({ coverage: { coveredSeconds: 19 * 3600 } });
  });

  test("is not written of replicas of different clusters, or of none", async () => {
    const urls = await Promise.all(["harbor", "fjord"].map((cluster) => serving(ledgerOf(0, ...day), cluster)));
    const strangers = await fairlead(["review", "--url", ...urls, ...window]);
    expect([strangers.code, strangers.out]).toEqual([1, ""]);
    expect(strangers.err).toMatch(/watches cluster "harbor", and .* watches "fjord"\nNext step: .*--merge/);
    const none = await fairlead(["review", "--url", "http://127.0.0.1:9", "http://127.0.0.1:10", ...window]);
    expect([none.code, none.err]).toEqual([1, expect.stringContaining("no replica has given its ledger")]);
    const both = await fairlead(["review", "--url", ...urls, "--ledger", "a.db", ...window]);
    expect([both.code, both.err]).toEqual([1, expect.stringContaining("in one way")]);
  });
});
