import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { checkLedger } from "../../../exporter/accounts/ledger/checkLedger.ts";
import { createLedgerCopies, type TakenCopy } from "../../../exporter/accounts/ledger/ledgerCopies.ts";
import type { Outputs } from "../../../exporter/publish/http/outputs.ts";
import { cycleEntry, start } from "../../accounts/ledger/entries.ts";
import { readLedger, writeLedger } from "../../accounts/ledger/replicas.ts";
import { temporaryFile, temporaryFolder } from "../../accounts/ledger/temporaryFolder.ts";
import { asKim, scriptedAdviser, startAdvised } from "../adviceServer.ts";

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  await Promise.all(closing.splice(0).map((close) => close()));
});

const route = "/api/v1/ledger/backup";

async function serve(outputs: Partial<Outputs>): Promise<string> {
  const server = await startAdvised(scriptedAdviser().adviser, { users: {}, ...outputs });
  closing.push(server.close);
  return `${server.url}${route}`;
}

/** A ledger with some cycles, and who copies it. */
function keptLedger(rows = 40) {
  const file = temporaryFile();
  writeLedger(
    file,
    [0, 1, 2].map((n) => cycleEntry(n, start + 30 * n, rows)),
  );
  return { file, output: createLedgerCopies(file) };
}

const ownTemporary = () => readdirSync(tmpdir()).filter((name) => name.startsWith(`fairlead-backup-${process.pid}-`));

describe(route, () => {
  test("sends a sound copy with its name, its size and its cluster, and leaves nothing behind", async () => {
    const { file, output } = keptLedger();
    const response = await fetch(await serve({ ledgerBackup: output, cluster: "north sea/1" }));
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("application/vnd.sqlite3");
    expect(response.headers.get("content-disposition")).toMatch(
      /^attachment; filename="fairlead-north_sea_1-\d{8}T\d{6}Z\.db"$/,
    );
    expect(response.headers.get("fairlead-cluster")).toBe("north%20sea%2F1");
    const bytes = Buffer.from(await response.arrayBuffer());
    expect(response.headers.get("content-length")).toBe(`${bytes.length}`);
    const copy = path.join(temporaryFolder(), "copy.db");
    writeFileSync(copy, bytes);
    expect(readLedger(copy, checkLedger)).toEqual(readLedger(file, checkLedger));
    expect(ownTemporary()).toEqual([]);
  });

  test("answers what to do without a ledger, and makes no copy for HEAD or with parameters", async () => {
    const without = await fetch(await serve({}));
    expect([without.status, await without.json()]).toEqual([
      404,
      { error: "no ledger is kept", nextStep: expect.stringContaining("ledger.path") },
    ]);
    const never = { take: () => expect.fail("nobody asked for a copy") };
    const url = await serve({ ledgerBackup: never });
    expect((await fetch(url, { method: "HEAD" })).status).toBe(200);
    expect((await fetch(`${url}?from=7d`)).status).toBe(400);
  });

  test("asks for the name and password that every page asks for", async () => {
    const { output } = keptLedger();
    const server = await startAdvised(scriptedAdviser().adviser, { ledgerBackup: output });
    closing.push(server.close);
    expect((await fetch(`${server.url}${route}`)).status).toBe(401);
    const response = await fetch(`${server.url}${route}`, { headers: asKim });
    expect(response.status).toBe(200);
    expect((await response.arrayBuffer()).byteLength).toBeGreaterThan(4096);
  });

  test("makes one at a time, and the next when the first is read, or when who asked has gone away", async () => {
    const { output } = keptLedger();
    const begun: Promise<TakenCopy>[] = [];
    const first = Promise.withResolvers<void>();
    const url = await serve({
      ledgerBackup: {
        take() {
          const taking = output.take();
          begun.push(taking);
          if (begun.length === 2) first.resolve();
          return taking;
        },
      },
    });
    const taken = await output.take();
    if (!taken.ok) throw new Error("a copy was expected");
    const busy = await fetch(url);
    expect([busy.status, busy.headers.get("retry-after"), busy.headers.get("content-disposition")]).toEqual([
      503,
      "10",
      null,
    ]);
    expect(await busy.json()).toMatchObject({ nextStep: "Ask again in some seconds." });
    await taken.copy.close();
    const gone = new AbortController();
    const asked = fetch(url, { signal: gone.signal }).catch(() => null);
    await first.promise;
    gone.abort();
    await asked;
    // Its copy is made nevertheless, and closed when there is nobody to send it to.
    let next = await output.take();
    while (!next.ok && next.problem === "busy") {
      await new Promise((resolve) => setTimeout(resolve, 10));
      next = await output.take();
    }
    expect(next.ok).toBe(true);
    if (next.ok) await next.copy.close();
    expect(ownTemporary()).toEqual([]);
  });

  test("says why there is no copy, and takes another try later", async () => {
    const { file, output } = keptLedger();
    const url = await serve({ ledgerBackup: createLedgerCopies(`${file}.none`) });
    for (const _ of [1, 2]) {
      const response = await fetch(url);
      expect(response.status).toBe(503);
      expect(await response.json()).toMatchObject({ error: expect.stringContaining("does not exist") });
    }
    const before = process.env.TMPDIR;
    process.env.TMPDIR = `${file}.no-such-folder`;
    try {
      expect(await output.take()).toMatchObject({ ok: false, problem: { code: "ledger-backup-temporary" } });
    } finally {
      if (before === undefined) delete process.env.TMPDIR;
      else process.env.TMPDIR = before;
    }
    expect(existsSync(file)).toBe(true);
  });
});
