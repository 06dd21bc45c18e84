import { mkdtemp, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createPriceFileReader } from "../../../exporter/sources/prices/priceFile.ts";
import { createPricesSource, fileSeconds } from "../../../exporter/sources/prices/pricesSource.ts";
import { tablePrices } from "../../../exporter/sources/prices/table.ts";

let folder = "";
let file = "";
let writes = 0;
const clock = { now: 1_000_000 };
const now = (): number => clock.now;

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "fairlead-prices-"));
  file = path.join(folder, "prices.yaml");
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** Writes the file, never with the time stamp of the one before. */
async function write(text: string): Promise<void> {
  await writeFile(file, text);
  writes += 1;
  await utimes(file, 1_700_000_000 + writes, 1_700_000_000 + writes);
}

const one = (perGpuHour: number): string => `date: 2026-10-01\nprices: [{perGpuHour: ${perGpuHour}}]\n`;

describe("a price file", () => {
  test("is read again when it has changed", async () => {
    await write(one(2));
    const reader = createPriceFileReader(file, now);
    await reader.look();
    const first = reader.prices();
    await reader.look();
    expect(reader.prices()).toBe(first);
    await write(one(3));
    await reader.look();
    expect(reader.prices()).toMatchObject([{ perGpuHour: 3 }]);
    expect(reader.problems()).toEqual([]);
  });

  test("that becomes wrong keeps the last good prices, and says so until it is right", async () => {
    await write(one(2));
    const reader = createPriceFileReader(file, now);
    await reader.look();
    await write("date: 2026-10-01\nprices: [{perGpuHour: -2}, {perGpuHour: x}]\n");
    await reader.look();
    expect(reader.prices()).toMatchObject([{ perGpuHour: 2 }]);
    expect(reader.problems()).toMatchObject([{ code: "price-file-invalid", severity: "warning", subject: file }]);
    expect(reader.problems()[0]?.message).toContain("prices[0].perGpuHour: found -2, expected more than 0");
    expect(reader.problems()[0]?.message).toContain("stay in use");
    await reader.look();
    expect(reader.problems()).toHaveLength(1);
    await write(one(4));
    await reader.look();
    expect([reader.problems(), reader.prices()]).toMatchObject([[], [{ perGpuHour: 4 }]]);
  });

  test("that goes away keeps its prices, too", async () => {
    await write(one(2));
    const reader = createPriceFileReader(file, now);
    await reader.look();
    await rm(file);
    await reader.look();
    expect([reader.prices(), reader.problems()]).toMatchObject([[{ perGpuHour: 2 }], [{ severity: "warning" }]]);
  });

  test("that was never good has no prices, and is an error", async () => {
    const reader = createPriceFileReader(file, now);
    await reader.look();
    expect([reader.prices(), reader.goodAt()]).toEqual([[], null]);
    expect(reader.problems()).toMatchObject([{ severity: "error" }]);
  });
});

describe("the source", () => {
  /** A source whose time passes by hand. */
  function sourceOf(settings: { readonly file?: string; readonly table: boolean }) {
    const due: { readonly seconds: number; readonly callback: () => void }[] = [];
    const schedule = (seconds: number, callback: () => void) => {
      due.push({ seconds, callback });
      return () => due.splice(0);
    };
    return { source: createPricesSource({ settings, now, schedule }), due };
  }

  test("has the file's prices before the table's, and looks at the file each minute", async () => {
    await write(one(2));
    const { source, due } = sourceOf({ file, table: true });
    expect(source.read().listed).toHaveLength(tablePrices.length);
    await source.start();
    expect(source.read().listed).toHaveLength(1 + tablePrices.length);
    expect(source.read().listed[0]).toMatchObject({ source: "file", perGpuHour: 2 });
    expect(source.read()).toBe(source.read());
    expect(due.map(({ seconds }) => seconds)).toEqual([fileSeconds]);
    await write(one(3));
    due.pop()?.callback();
    await expect.poll(() => source.read().listed[0]?.perGpuHour, { timeout: 60_000 }).toBe(3);
    await source.stop();
    expect(due).toEqual([]);
  });

  test("with the table alone reads nothing from outside; without the table it has no price", async () => {
    const { source, due } = sourceOf({ table: true });
    await source.start();
    expect([source.freshness(), source.problems(), due]).toEqual([[], [], []]);
    expect(sourceOf({ table: false }).source.read().listed).toEqual([]);
  });

  test("says how long ago the file was seen to be good", async () => {
    await write(one(2));
    const { source } = sourceOf({ file, table: true });
    await source.start();
    clock.now += 60;
    expect(source.freshness()).toEqual([{ part: "file", ageSeconds: 60, fresh: true }]);
    clock.now += 600;
    expect(source.freshness()).toMatchObject([{ fresh: false }]);
    await source.stop();
  });
});
