import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { playWeek } from "../cli/demo/simulatedWeek.ts";
import { type WeekPair, weekReport } from "../cli/demo/weekReport.ts";

// Plays the simulated week with advice followed and without, and writes docs/simulated-week.md. Takes about 15 minutes.

const delaySeconds = 3600;

const { values } = parseArgs({
  options: {
    seeds: { type: "string", default: "101,102,103" },
    days: { type: "string", default: "7" },
    // Shorter plays are looked at, not written down.
    print: { type: "boolean", default: false },
  },
});
const seeds = values.seeds.split(",").map(Number);
const days = Number(values.days);
const pairs: WeekPair[] = [];
for (const seed of seeds) {
  console.error(`seed ${seed}: without advice ...`);
  const without = await playWeek({ seed, days, followAfter: null });
  console.error(`seed ${seed}: with advice followed ...`);
  pairs.push({ seed, without, followed: await playWeek({ seed, days, followAfter: delaySeconds }) });
}
const report = weekReport(pairs, days, delaySeconds / 60);
if (!values.print) writeFileSync(new URL("../docs/simulated-week.md", import.meta.url), report);
console.log(report);
