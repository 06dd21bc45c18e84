import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { acmeStudy, readCdfs } from "./acme/acmeStudy.ts";
import { productionEngine } from "./engine.ts";
import { readDuty } from "./genai/dutyTrace.ts";
import { genaiStudy } from "./genai/genaiStudy.ts";
import { heliosStudy } from "./helios/heliosStudy.ts";
import { readHelios } from "./helios/heliosTrace.ts";
import { openbStudy } from "./openb/openbStudy.ts";
import { readOpenb } from "./openb/openbTrace.ts";
import { backtestFiles, digestOf, resultText, traceNames } from "./page.ts";
import { meanUse, readNodeSeries } from "./philly/nodeSeries.ts";
import { phillyStudy } from "./philly/phillyStudy.ts";
import { startsStudy } from "./starts/startsStudy.ts";
import { readStartsTraces } from "./starts/startsTrace.ts";

// Replays a published trace and writes docs/backtest.md: npm run backtest -- TRACE DIR. With --print it prints the result instead.

const say = (text: string): void => void process.stderr.write(`${text}\n`);
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    print: { type: "boolean", default: false },
    seeds: { type: "string", default: "20" },
    every: { type: "string", default: "4" },
  },
});
const [name = "", folder] = positionals;

const replays: Readonly<Record<string, (from: string, seeds: number) => object>> = {
  openb: (from, seeds) =>
    openbStudy(readOpenb(from), {
      seeds,
      demand: 1.3,
      rounds: 3,
      anySeeds: Math.min(seeds, 3),
      everyNode: Number(values.every),
      moves: 100,
      engine: () => productionEngine(["defragment"]),
      progress: say,
    }),
  philly(from, seeds) {
    const [first, end] = ["2017-12-01", "2017-12-15"];
    return phillyStudy(readNodeSeries(from, first, end), {
      seeds,
      whole: meanUse(from),
      from: first,
      until: end,
      engine: () => productionEngine(["scale_in"]),
      progress: say,
    });
  },
  helios: (from, seeds) =>
    heliosStudy(readHelios(from), { seeds, engine: () => productionEngine(["change_quota"]), progress: say }),
  genai: (from) => genaiStudy(readDuty(from), say),
  acme: (from) => acmeStudy(readCdfs(from)),
  starts: (from, seeds) => startsStudy(readStartsTraces(from), { seeds, progress: say }),
};

const replay = replays[name];
if (replay === undefined || folder === undefined) {
  say(`usage: npm run backtest -- TRACE DIR, where TRACE is one of ${traceNames.join(", ")} and DIR has its files`);
  process.exit(2);
}
const text = resultText(replayed(replay, folder));
process.stdout.write(`digest ${digestOf(text)}\n`);
if (values.print) process.stdout.write(text);
else {
  const docs = join(import.meta.dirname, "../../docs");
  mkdirSync(join(docs, "backtest"), { recursive: true });
  writeFileSync(join(docs, "backtest", `${name}.json`), text);
  for (const [path, content] of Object.entries(backtestFiles(docs))) writeFileSync(join(docs, path), content);
}

/** The result; ends the command where the folder has not the files of the trace. */
function replayed(of: (from: string, seeds: number) => object, from: string): object {
  try {
    return of(from, Number(values.seeds));
  } catch (error) {
    if (!(error instanceof Error) || !("code" in error) || error.code !== "ENOENT") throw error;
    say(
      `fairlead: ${error.message}\nNext step: give the folder that has the files of this trace (docs/backtest.md names it).`,
    );
    process.exit(1);
  }
}
