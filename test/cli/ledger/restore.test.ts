import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { Readable } from "node:stream";
import { describe, expect, test } from "vitest";
import { run } from "../../../cli/run.ts";
import { checkLedger } from "../../../exporter/accounts/ledger/checkLedger.ts";
import { lockForWriting } from "../../../exporter/accounts/ledger/writerLock.ts";
import { readLedger, replicaEntries, writeLedger } from "../../accounts/ledger/replicas.ts";
import { temporaryFile, temporaryFolder } from "../../accounts/ledger/temporaryFolder.ts";
import { captureIo } from "../captureIo.ts";

function copyOfLedger(seconds: number): string {
  const file = temporaryFile();
  writeLedger(file, replicaEntries([seconds], 1));
  return file;
}

async function restore(file: string, bytes: Uint8Array, ...flags: readonly string[]) {
  const io = captureIo();
  // In two pieces, as a pipe may cut them.
  const input = Readable.from([bytes.subarray(0, 1000), bytes.subarray(1000)]);
  const code = await run(["ledger", "restore", file, ...flags], { ...io, input });
  return { code, out: io.stdout(), err: io.stderr() };
}

describe("fairlead ledger restore", () => {
  test("puts what standard input brings into an empty volume", async () => {
    const copy = copyOfLedger(3600);
    const file = path.join(temporaryFolder(), "ledger.db");
    const { code, out, err } = await restore(file, readFileSync(copy));
    expect([code, err]).toEqual([0, ""]);
    expect(out).toBe(`fairlead: ${file} is restored and checked\n`);
    expect(readLedger(file, checkLedger)).toEqual(readLedger(copy, checkLedger));
  });

  test("refuses a place that has a ledger, and keeps it under another name with --replace", async () => {
    const [file, copy] = [copyOfLedger(1800), copyOfLedger(3600)];
    const old = readLedger(file, checkLedger);
    const refused = await restore(file, readFileSync(copy));
    expect(refused.code).toBe(1);
    expect(refused.err).toContain("is there already");
    expect(refused.err).toContain("--replace");
    expect(readLedger(file, checkLedger)).toEqual(old);

    const { code, out } = await restore(file, readFileSync(copy), "--replace");
    expect(code).toBe(0);
    expect(out).toContain(`what was there is ${file}.before-restore-1`);
    expect(readLedger(`${file}.before-restore-1`, checkLedger)).toEqual(old);
    expect(readLedger(file, checkLedger)).toEqual(readLedger(copy, checkLedger));
  });

  test.each([
    ["nothing", () => new Uint8Array(), "nothing arrived"],
    ["half a copy", (copy: Buffer) => copy.subarray(0, copy.length / 2), "ledger"],
    ["something else", () => Buffer.from("<html>not found</html>".repeat(100)), "not a SQLite file"],
  ] as const)("leaves the place as it is when %s arrives", async (_, bytesOf, message) => {
    const file = path.join(temporaryFolder(), "ledger.db");
    const { code, err } = await restore(file, bytesOf(readFileSync(copyOfLedger(3600))));
    expect(code).toBe(1);
    expect(err).toContain(message);
    expect(err).toContain("Next step: ");
    expect(existsSync(file)).toBe(false);
    expect(readdirSync(path.dirname(file)).filter((name) => name.includes("arriving"))).toEqual([]);
  });

  test("refuses while a Fairlead writes the ledger", async () => {
    const [file, copy] = [copyOfLedger(1800), copyOfLedger(3600)];
    const locked = lockForWriting(file);
    if (!locked.ok) throw new Error(locked.problem.message);
    const { code, err } = await restore(file, readFileSync(copy), "--replace");
    locked.lock.release();
    expect(code).toBe(1);
    expect(err).toContain("is being written by another process");
  });

  test("reads a file with --from", async () => {
    const copy = copyOfLedger(3600);
    const file = path.join(temporaryFolder(), "ledger.db");
    writeFileSync(`${file}.elsewhere`, readFileSync(copy));
    const { code } = await restore(file, new Uint8Array(), "--from", `${file}.elsewhere`);
    expect(code).toBe(0);
    expect(readLedger(file, checkLedger)).toEqual(readLedger(copy, checkLedger));
  });
});
