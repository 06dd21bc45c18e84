import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { gpuPowerDate, gpuPowerTable } from "../../../exporter/join/stall/gpuPower.ts";
import { stalledWatts } from "../../../exporter/join/stall/looksStalled.ts";

it("docs/telemetry.md has the table of idle and full power as it is", () => {
  const text = readFileSync(new URL("../../../docs/telemetry.md", import.meta.url), "utf8");
  const rows = gpuPowerTable.map((row) => {
    const upTo = Math.round(stalledWatts(row, null) * 10) / 10;
    return `| ${row.models.join(", ")} | ${row.idleWatts} | ${row.fullWatts} | ${upTo} | ${row.source} |`;
  });
  expect(text).toContain(rows.join("\n"));
  expect(text).toContain(`as of ${gpuPowerDate}`);
});
