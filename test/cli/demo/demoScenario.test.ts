import { expect, it } from "vitest";
import { run } from "../../../cli/run.ts";
import { captureIo } from "../captureIo.ts";

it.each([
  ["burst", "--trace"],
  ["burst", "--prometheus"],
  ["waste", "--trace"],
  ["waste", "--dashboards"],
  ["racks", "--prometheus"],
])("the %s of the demo is a play of its own: %s does not go with it", async (scenario, flag) => {
  const io = captureIo();
  const code = await run(["demo", "--scenario", scenario, flag, ...(flag === "--trace" ? ["traces"] : [])], io);
  expect(code).toBe(2);
  expect(io.stderr()).toContain("--scenario <name>");
  expect(io.stderr()).toContain(`cannot be used with option '${flag}`);
  expect(io.stdout()).toBe("");
});

it("another scenario is refused with those that there are", async () => {
  const io = captureIo();
  expect(await run(["demo", "--scenario", "bust"], io)).toBe(2);
  expect(io.stderr()).toContain("'bust' is invalid. Allowed choices are waste, racks, burst.");
});
