import { expect, it } from "vitest";
import { bareRecord } from "../../exporter/kernel/bareRecord.ts";

it("a bare record has what is put into it, and nothing else", () => {
  const [prototypeKey, constructorKey] = ["__proto__", "constructor"];
  const record = bareRecord<string>();
  expect(record[constructorKey]).toBeUndefined();
  expect(record[prototypeKey]).toBeUndefined();
  record[prototypeKey] = "text";
  record[constructorKey] = "other";
  expect(Object.entries(record)).toEqual([
    ["__proto__", "text"],
    ["constructor", "other"],
  ]);
  expect(bareRecord()[constructorKey]).toBeUndefined();
  expect({}.constructor).toBe(Object);
});
