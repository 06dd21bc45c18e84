import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { acmeStudy, readCdfs } from "../../../bench/backtest/acme/acmeStudy.ts";
import { readDuty, sharesOf } from "../../../bench/backtest/genai/dutyTrace.ts";
import { countsOf, readHelios } from "../../../bench/backtest/helios/heliosTrace.ts";
import { meanUse } from "../../../bench/backtest/philly/nodeSeries.ts";
import { traces } from "../../e2e/openbTrace.ts";

/** The folder of a trace; `null`, which is said, where it is not there. */
function folderOf(name: string): string | null {
  const folder = join(traces, name);
  if (existsSync(folder)) return folder;
  process.stdout.write(`skipped: no ${name} trace; set FAIRLEAD_TRACES to the folder that holds it\n`);
  return null;
}
const [genai, acme, philly, helios] = ["genai-2026", "acme", "philly", "helios-earth"].map(folderOf);

describe("figures that are published of the traces", () => {
  it.skipIf(genai === null)(
    "genai-2026: 66.8 % of the samples are 0, the mean is 7.03 %, 2.33 % are above 50 %",
    () => {
      const { pods, samples, zeros, meanPercent, aboveHalf } = sharesOf(readDuty(genai ?? ""));
      expect([pods, samples]).toEqual([143, 157_417]);
      expect([
        ((100 * zeros) / samples).toFixed(1),
        meanPercent.toFixed(2),
        ((100 * aboveHalf) / samples).toFixed(2),
      ]).toEqual(["66.8", "7.03", "2.33"]);
    },
  );

  it.skipIf(acme === null)("Acme: GPU_UTIL has a median of 99 and 98 %, SM_ACTIVE of 50 and 34 %", () => {
    const { rows } = acmeStudy(readCdfs(acme ?? ""));
    expect(rows.map(({ utilMedian, smMedian }) => [utilMedian.toFixed(0), smMedian.toFixed(0)])).toEqual([
      ["99", "50"],
      ["98", "34"],
    ]);
  });

  it.skipIf(philly === null)("Philly: 73.9 % of the nodes work on average over 105,644 minutes", () => {
    const { minutes, mean } = meanUse(philly ?? "");
    expect([minutes, (100 * mean).toFixed(1)]).toEqual([105_644, "73.9"]);
  });

  it.skipIf(helios === null)(
    "Helios Earth: 66.7 % allocated, 212,091 GPU-hours idle, 45,672 pending, 82 % of these idle only elsewhere",
    () => {
      const { gpus, allocated, idleHours, pendingHours, onlyElsewhere } = countsOf(readHelios(helios ?? ""));
      expect([gpus, (100 * allocated).toFixed(1), idleHours.toFixed(0), pendingHours.toFixed(0)]).toEqual([
        856,
        "66.7",
        "212091",
        "45672",
      ]);
      expect((100 * onlyElsewhere).toFixed(0)).toBe("82");
    },
  );
});
