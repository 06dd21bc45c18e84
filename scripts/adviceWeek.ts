import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { playPair, type WeekPair, weekReport } from "../cli/demo/weekReport.ts";

// Plays the simulated week with and without following the recommendations, and writes docs/simulated-week.md. Takes about five
// minutes. With --check it plays six hours of the first seed twice, and fails where the two reports are not the same bytes.

const { values } = parseArgs({
  options: {
    seeds: { type: "string", default: "101,102,103" },
    hours: { type: "string", default: "168" },
    // Prints the results instead of writing the page, for shorter plays.
    print: { type: "boolean", default: false },
    check: { type: "boolean", default: false },
  },
});
const seeds = values.seeds.split(",").map(Number);
const hours = values.check ? 6 : Number(values.hours);

async function report(of: readonly number[]): Promise<string> {
  const pairs: WeekPair[] = [];
  for (const seed of of) {
    console.error(`seed ${seed}: ${hours} hours, twice ...`);
    pairs.push(await playPair(seed, hours));
  }
  return weekReport(pairs, hours);
}

if (values.check) {
  const first = await report(seeds.slice(0, 1));
  const isSame = first === (await report(seeds.slice(0, 1)));
  console.log(isSame ? "the same bytes" : "two plays of one seed differ");
  process.exitCode = isSame ? 0 : 1;
} else {
  const text = await report(seeds);
  if (!values.print) writeFileSync(new URL("../docs/simulated-week.md", import.meta.url), text);
  console.log(text);
}
