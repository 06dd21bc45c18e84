import { describe, expect, it } from "vitest";
import { parseTimeStamp } from "../../../../exporter/kernel/isoTime.ts";
import { parseAmount, parseDuration } from "../../../../exporter/kernel/quantity.ts";

describe("an amount", () => {
  it.each([
    ["8", 8],
    ["1500m", 1.5],
    ["500m", 0.5],
    ["0.25", 0.25],
    [0.5, 0.5],
    ["-1", -1],
    ["-1m", -0.001],
    ["16Gi", 16 * 2 ** 30],
    ["85899345921", 85_899_345_921],
    ["12196871n", 0.012196871],
    ["1e3", 1000],
    ["34359738368", 2 ** 35],
  ])("of %s is %d", (text, amount) => expect(parseAmount(text)).toBe(amount));

  it.each(["", "many", "1 ", null, {}, Number.NaN, "1e99", "9".repeat(100)])("is not read from %s", (text) =>
    expect(parseAmount(text)).toBeNull(),
  );
});

describe("a duration", () => {
  it.each([
    ["168h", 604_800],
    ["168h0m0s", 604_800],
    ["1h30m", 5400],
    ["1.5s", 1.5],
    ["500ms", 0.5],
    ["0", 0],
    ["0s", 0],
    ["-5m", -300],
  ])("of %s is %d s", (text, seconds) => expect(parseDuration(text)).toBeCloseTo(seconds, 9));

  it.each(["", "5", "1d", "h", "1h 30m", 300, null, "1s".repeat(100)])("is not read from %s", (text) =>
    expect(parseDuration(text)).toBeNull(),
  );
});

describe("a time stamp in an annotation", () => {
  it("is RFC 3339 and nothing else", () => {
    const expected = Date.UTC(2026, 10, 20, 10) / 1000;
    expect(parseTimeStamp("2026-11-20T10:00:00Z")).toBe(expected);
    expect(parseTimeStamp("2026-11-20T12:00:00.000+02:00")).toBe(expected);
    for (const text of ["1790000000", "2026-11-20", "2026-13-40T10:00:00Z", "now", ""]) {
      expect(parseTimeStamp(text)).toBeNull();
    }
    expect(parseTimeStamp(null)).toBeNull();
  });
});
