import { expect, test } from "vitest";
import type { Quantity } from "../../../exporter/sources/dcgm/dialects.ts";
import { type ValueFault, valueFault } from "../../../exporter/sources/dcgm/sanitise.ts";

test.each<[Quantity, number, ValueFault | null]>([
  ["percent", 0, null],
  ["percent", 100, null],
  ["percent", 100.1, "out_of_range"],
  ["percent", 4_294_967_295, "out_of_range"],
  ["percent", 200_000, "out_of_range"],
  ["percent", -1, "out_of_range"],
  ["ratio", 1, null],
  ["ratio", 1.0001, "out_of_range"],
  ["ratio", Number.NaN, "not_a_number"],
  ["power", Number.POSITIVE_INFINITY, "not_a_number"],
  ["power", 140_737_488_355_328, "blank"],
  ["power", 140_737_488_355_331, "blank"],
  ["energy", 140_737_488_355_327, null],
  ["energy", 2 ** 63, "blank"],
  ["energy", 2_147_483_633, null],
  ["temperature", 2_147_483_632, "blank"],
  ["temperature", -5, null],
  ["percent", 2_147_483_635, "blank"],
  ["memory", 2_147_483_634, "blank"],
  ["memory", 81_559, null],
  ["xid", 2_147_483_632, "blank"],
  ["xid", 79, null],
])("%s %d: %s", (quantity, value, fault) => {
  expect(valueFault(quantity, value, "dcgm")).toBe(fault);
});

test("without DCGM's sentinels a large value is a value", () => {
  expect(valueFault("energy", 2 ** 48, "none")).toBeNull();
});
