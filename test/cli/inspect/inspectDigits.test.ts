import { expect, test } from "vitest";
import { parse } from "yaml";
import { fairlead } from "../adviseAgainst.ts";
import { createDumps } from "../dumpFolder.ts";
import { dcgmPage, fragmentedDump } from "../fragmentedDump.ts";

const dumpOf = createDumps();

/** Every number of a document. */
function numbersOf(value: unknown): readonly number[] {
  if (typeof value === "number") return [value];
  if (typeof value !== "object" || value === null) return [];
  return Object.values(value).flatMap(numbersOf);
}

/** Rows of an eighth of the GPUs at 10, 20, ... percent: sums of these are no round numbers in binary. */

const uses = [10, 20, 30, 70, 60, 30, 10, 10];
const page = dcgmPage("gpu-a", "eval-0", 8).replace(/ 90$/gm, () => ` ${uses.shift() ?? 0}`);

test.each([
  ["inspect", "--output", "json"],
  ["advise", "--output", "json"],
  ["advise", "--output", "yaml"],
  ["explain", "node", "gpu-a", "--output", "json"],
])("%s has no digits that adding up in binary left", async (...command) => {
  const [name = "", ...rest] = command;
  const dump = dumpOf({ "objects.json": fragmentedDump, "gpu-a.prom": page });
  const args = name === "inspect" ? [name, dump, ...rest] : [name, ...rest, "--dump", dump];
  const numbers = numbersOf(parse((await fairlead(...args)).out));
  expect(numbers.length).toBeGreaterThan(5);
  for (const number of numbers)
    if (!Number.isInteger(number)) expect(String(number)).toBe(String(Number(number.toPrecision(12))));
});
