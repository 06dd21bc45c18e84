import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { activityReport } from "../test/e2e/activity/activityReport.ts";
import { type MixedOutcome, playMixed } from "../test/e2e/activity/playMixed.ts";

// Plays mixed clusters and writes docs/activity.md: which work that does nothing and which sick GPUs were found, and which were
// not. Takes about ten minutes.

const { values } = parseArgs({
  options: {
    seeds: { type: "string", default: "200" },
    // Prints the results instead of writing the page, for plays with fewer seeds.
    print: { type: "boolean", default: false },
  },
});

const outcomes: MixedOutcome[] = [];
for (let seed = 1; seed <= Number(values.seeds); seed++) {
  outcomes.push(await playMixed(seed));
  if (seed % 20 === 0) console.error(`${seed} clusters`);
}
const text = activityReport(outcomes);
if (values.print) console.log(text);
else writeFileSync(new URL("../docs/activity.md", import.meta.url), text);
