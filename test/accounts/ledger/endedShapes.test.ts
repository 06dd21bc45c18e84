import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import { prepareLedger } from "../../../cli/ledgerOutput.ts";
import { createAccounting } from "../../../exporter/accounts/accounting.ts";
import { checkLedger } from "../../../exporter/accounts/ledger/checkLedger.ts";
import { readShapes } from "../../../exporter/accounts/ledger/endedShapes.ts";
import { createEntryWriter } from "../../../exporter/accounts/ledger/entryWriter.ts";
import type { LedgerEntry } from "../../../exporter/accounts/ledger/ledger.ts";
import { mergeEntries } from "../../../exporter/accounts/ledger/mergeEntries.ts";
import { packEntry } from "../../../exporter/accounts/ledger/packedEntry.ts";
import { createRetention } from "../../../exporter/accounts/ledger/retention.ts";
import { shapeIn } from "../../../exporter/accounts/shapeText.ts";
import { configSchema } from "../../../exporter/config/schema.ts";
import { emptyMemory } from "../../../exporter/join/memory.ts";
import type { PodView } from "../../../exporter/join/snapshot.ts";
import type { EndedShape } from "../../../exporter/model/podShape.ts";
import { moment, podView } from "../../analysis/momentBuilder.ts";
import { analysed } from "../../join/outcomes.ts";
import { entry, start } from "./entries.ts";
import { ledgerOf } from "./memoryLedger.ts";
import { openLedger, temporaryFile } from "./temporaryFolder.ts";

const day = 86_400;
const today = start / day;

function ended(gpus: number, pods: number, cpu = 4): EndedShape {
  return { gpus, pods, needs: { requests: { cpu }, nodeSelector: {}, nodeAffinity: [], tolerations: [] } };
}

/** Day, GPUs and pods of each row, in order. */
function rowsOf(db: DatabaseSync): readonly (readonly [number, number | undefined, number])[] {
  return readShapes(db)
    .map(({ day: on, shape, pods }) => [on - today, shapeIn(shape)?.gpus, pods] as const)
    .toSorted((a, b) => a[0] - b[0] || (a[1] ?? 0) - (b[1] ?? 0));
}

const on = (days: number, ...endedPods: readonly EndedShape[]): LedgerEntry =>
  entry({ from: start + days * day, to: start + days * day + 3600, endedPods });

describe("ended pods in the ledger", () => {
  test("are added up by day and shape", () => {
    const db = ledgerOf([on(0, ended(1, 3), ended(8, 1)), on(0.5, ended(1, 2)), on(1, ended(1, 4))]);
    expect(rowsOf(db)).toEqual([
      [0, 1, 5],
      [0, 8, 1],
      [1, 1, 4],
    ]);
    expect(db.prepare("SELECT count(*) AS n FROM shapes").get()).toEqual({ n: 2 });
    expect(checkLedger(db).wrong).toEqual([]);
  });

  test("are the same after entries were merged, and an entry that is in the file is not added again", () => {
    const entries = [on(0, ended(1, 3), ended(8, 1)), on(0.5, ended(1, 2)), on(1, ended(1, 4)), on(1.5)].map(packEntry);
    const [first, ...rest] = entries;
    if (first === undefined) throw new Error("there are entries");
    const db = ledgerOf([]);
    const writer = createEntryWriter(db);
    const merged = rest.reduce(mergeEntries, first);
    writer.write(1, merged);
    writer.write(1, merged);
    expect(rowsOf(db)).toEqual([
      [0, 1, 5],
      [0, 8, 1],
      [1, 1, 4],
    ]);
  });

  test("are read for eight days, and kept for as long as daily sums", () => {
    const db = ledgerOf([on(0, ended(1, 1)), on(1, ended(2, 1)), on(8, ended(4, 1)), on(20, ended(8, 1))]);
    expect(rowsOf(db)).toEqual([[20, 8, 1]]);
    const retention = createRetention(db, { hourlyDays: 5, dailyDays: 12, workloadDays: 12 });
    while (retention.slice()) expect(checkLedger(db).wrong).toEqual([]);
    expect(db.prepare("SELECT day FROM pod_shapes ORDER BY day").all()).toEqual([
      { day: today + 8 },
      { day: today + 20 },
    ]);
    expect(db.prepare("SELECT count(*) AS n FROM shapes").get()).toEqual({ n: 2 });
  });

  test("cannot fill the disk with shapes that are all different", () => {
    const shapes = (from: number) => Array.from({ length: 3000 }, (_, i) => ended(1, 1, from + i));
    const db = ledgerOf([
      on(0, ended(2, 1)),
      on(0.2, ...shapes(0)),
      on(0.4, ...shapes(10_000)),
      on(0.6, ...shapes(20_000), ended(2, 1)),
    ]);
    expect(db.prepare("SELECT count(*) AS n FROM shapes").get()).toEqual({ n: 4000 });
    expect(rowsOf(db)).toContainEqual([0, 2, 2]);
  });

  test("a row without its shape is found by a check", () => {
    const db = ledgerOf([on(0, ended(1, 1))]);
    db.exec("DELETE FROM shapes");
    expect(checkLedger(db).wrong).toEqual(["1 rows of pod_shapes name a row of shapes that is not there"]);
  });

  test("that cannot be read are left out when the file is opened", async () => {
    const file = temporaryFile();
    const first = await openLedger(file);
    first.append(on(0, ended(1, 3), ended(8, 1)));
    await first.close();
    const db = new DatabaseSync(file);
    db.exec("UPDATE shapes SET shape = '[nonsense' WHERE shape LIKE '[8%'");
    db.close();
    const second = await openLedger(file);
    expect(second.start.endedShapes).toEqual([{ ...ended(1, 3), day: today }]);
  });
});

describe("a restart", () => {
  const { needs } = ended(1, 1);
  const pod = (uid: string): PodView => podView({ uid, name: uid, gpus: 1, needs });

  /** One process: sees these pods, 30 s after each other. What it says about ended pods at its begin and at its end. */
  async function live(file: string, from: number, moments: readonly (readonly PodView[])[]) {
    const days = { hourlyDays: 14, dailyDays: 400, workloadDays: 100 };
    const config = { ...configSchema.parse({ cluster: "c" }), ledger: { path: file, ...days } };
    const prepared = await prepareLedger(config);
    if (!prepared.ok || prepared.output === null) throw new Error("a ledger is configured");
    const { output } = prepared;
    const accounts = createAccounting({ intervalSeconds: 30, limits: config.limits, endedShapes: output.endedShapes });
    const atBegin = accounts.endedShapes();
    for (const [i, pods] of moments.entries()) {
      const step = accounts.account(analysed(moment({ pods })), { wall: from + 30 * i, monotonic: 30 * i });
      if (step !== null) await output.onStep(step, emptyMemory);
    }
    await output.close();
    return { atBegin, atEnd: accounts.endedShapes() };
  }

  test("neither counts a pod twice nor loses a day", async () => {
    const file = temporaryFile();
    const [a, b, c, d] = [pod("a"), pod("b"), pod("c"), pod("d")];
    const first = await live(file, start, [[a, b, c], [b, c], [c], [c]]);
    expect(first).toEqual({ atBegin: [], atEnd: [ended(1, 2)] });

    const second = await live(file, start + 2 * day, [[c, d], [d], [d]]);
    expect(second).toEqual({ atBegin: [ended(1, 2)], atEnd: [ended(1, 3)] });

    const third = await live(file, start + 8 * day, [[d], []]);
    expect(third).toEqual({ atBegin: [ended(1, 3)], atEnd: [ended(1, 2)] });
  });
});
