import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { acmeResultSchema } from "./acme/acmeResult.ts";
import { acmePlot, acmeSection } from "./acme/acmeSection.ts";
import { genaiResultSchema } from "./genai/genaiResult.ts";
import { genaiPlot, genaiSection } from "./genai/genaiSection.ts";
import { heliosResultSchema } from "./helios/heliosResult.ts";
import { heliosPlot, heliosSection } from "./helios/heliosSection.ts";
import { openbResultSchema } from "./openb/openbResult.ts";
import { openbPlot, openbSection } from "./openb/openbSection.ts";
import { phillyResultSchema } from "./philly/phillyResult.ts";
import { phillyPlot, phillySection } from "./philly/phillySection.ts";
import { startsResultSchema } from "./starts/startsResult.ts";
import { startsPlot, startsSection } from "./starts/startsSection.ts";

/** A backtest that has been run: its part of the page, and its picture by file name. */
interface Shown {
  readonly section: string;
  readonly pictures: Readonly<Record<string, string>>;
}

/** How the kept result of each trace is shown, in the order of the page. Throws if a result has another form. */
const shownBy: Readonly<Record<string, (result: unknown) => Shown>> = {
  openb(kept) {
    const result = openbResultSchema.parse(kept);
    return { section: openbSection(result), pictures: { "backtest-openb.svg": openbPlot(result) } };
  },
  philly(kept) {
    const result = phillyResultSchema.parse(kept);
    return { section: phillySection(result), pictures: { "backtest-philly.svg": phillyPlot(result) } };
  },
  helios(kept) {
    const result = heliosResultSchema.parse(kept);
    return { section: heliosSection(result), pictures: { "backtest-helios.svg": heliosPlot(result) } };
  },
  genai(kept) {
    const result = genaiResultSchema.parse(kept);
    return { section: genaiSection(result), pictures: { "backtest-genai.svg": genaiPlot(result) } };
  },
  acme(kept) {
    const result = acmeResultSchema.parse(kept);
    return { section: acmeSection(result), pictures: { "backtest-acme.svg": acmePlot(result) } };
  },
  starts(kept) {
    const result = startsResultSchema.parse(kept);
    return { section: startsSection(result), pictures: { "backtest-starts.svg": startsPlot(result) } };
  },
};

/** The traces that can be replayed. */
export const traceNames: readonly string[] = Object.keys(shownBy);

/** The text under which a result is kept: the same for the same result. */
export const resultText = (result: object): string => `${JSON.stringify(result, null, 1)}\n`;

/** A digest of a kept result. */
export const digestOf = (text: string): string => createHash("sha256").update(text).digest("hex").slice(0, 16);

/**
 * Returns docs/backtest.md and its pictures, by path below `docs`, from the results that are kept in `docs/backtest`. Throws if a
 * result cannot be read.
 */
export function backtestFiles(docs: string): Readonly<Record<string, string>> {
  const shown: string[] = [];
  const pictures: Record<string, string> = {};
  const digests: string[] = [];
  for (const [name, show] of Object.entries(shownBy)) {
    const file = join(docs, "backtest", `${name}.json`);
    if (!existsSync(file)) continue;
    const text = readFileSync(file, "utf8");
    const one = show(JSON.parse(text));
    shown.push(one.section);
    digests.push(`[${name}](backtest/${name}.json) \`${digestOf(text)}\``);
    for (const [picture, svg] of Object.entries(one.pictures)) pictures[`images/${picture}`] = svg;
  }
  return { "backtest.md": `${opening(digests)}\n${shown.join("\n")}`, ...pictures };
}

const opening = (
  digests: readonly string[],
): string => `<!-- Written by \`npm run backtest\` from docs/backtest/*.json -->

# Backtests on published traces

What would the advice have changed in clusters that really existed? Public traces are replayed, and the engine that runs in production (join, analysis and advice,
not a copy) gives its advice on them, beside doing nothing and beside what papers published. Nothing was tuned for it: policies that lose are shown as they
came out, and so is our advice where it loses.

The traces are not part of this repository, so continuous integration does not run this. Each command takes the folder of the downloaded trace, ends within 20 minutes on two
cores, and gives the same bytes each time; what it found is kept beside this page, and everything below is made of that.

    npm run backtest -- TRACE DIR

| TRACE | files in DIR | from |
| --- | --- | --- |
| openb | \`openb_node_list_gpu_node.csv\`, \`openb_pod_list_default.csv\` | alibaba/clusterdata, cluster-trace-gpu-v2023 |
| philly | \`node_sequence.csv.gz\` (time, active, total) | S-Lab-System-Group/HeliosArtifact, \`philly_node_sequence.csv\`, packed |
| helios | \`vc*.csv.gz\` | S-Lab-System-Group/HeliosArtifact, Earth_vcs, packed |
| genai | \`pod_gpu_duty_cycle.csv.gz\` | alibaba/clusterdata, cluster-trace-v2026-GenAI |
| acme | \`gpu_cdf.csv.gz\` (cluster, metric, x, cdf_percent) | InternLM/AcmeTrace, its distributions as a table |
| starts | \`philly/vc_job_arrivals.csv.gz\` (vc, job_index, arrival_s, gpus), and the folders \`openb\` and \`helios-earth\` with the files above | stanford-futuredata/gavel, scheduler/traces/msr/seed=0, as a table |

Digests of the results: ${digests.join(", ")}.
`;
