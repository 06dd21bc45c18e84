import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { parseArgs } from "node:util";
import { busySeconds, describeMachine, loadNow, maxLoad } from "./machine.ts";
import { collectGarbage, type Measurement, ownCpuSeconds } from "./measure.ts";
import { cpuSecondsOf, endedChildrenCpuSeconds } from "./processCpu.ts";

/** The options with which a question is asked, from its command line. */
export interface QuestionOptions {
  readonly nodes: number;
  /** The number of samples of each contender. */
  readonly samples: number;
  /** Whether only what the ratios of the short form need is measured: neither longest slices nor memory. */
  readonly isShort: boolean;
  /** Ids of other processes that work for this question: their CPU time does not count as that of strangers. */
  readonly helpers: Set<number>;
  /** Reports on stderr what is being done. */
  readonly progress: (text: string) => void;
}

/** The results of a question. */
export interface Answer {
  readonly measurements: readonly Measurement[];
  /** Single numbers by name; the end of the name is the unit (`rssMiB`, `bytesPerPod`, `ratio...`). */
  readonly figures: Readonly<Record<string, number>>;
  readonly notes?: readonly string[];
}

/** An answer in the form in which it is written to a file. */
export interface RecordedAnswer extends Answer {
  readonly question: string;
  readonly nodes: number;
  readonly seconds: number;
  readonly loadBefore: number;
  /** How many cores other processes kept busy meanwhile; above 0.3 the numbers cannot be trusted. */
  readonly foreignCores: number;
}

/**
 * Runs a question as a program: `node --expose-gc bench/QUESTION.ts [--nodes=1000] [--samples=7] [--short]
 * [--out=FILE] [--any-load]`. Without `--any-load` it refuses while the machine is busy.
 */
export async function ask(question: string, run: (options: QuestionOptions) => Promise<Answer>): Promise<void> {
  const { values } = parseArgs({
    options: {
      nodes: { type: "string", default: "1000" },
      samples: { type: "string", default: "7" },
      short: { type: "boolean", default: false },
      out: { type: "string" },
      "any-load": { type: "boolean", default: false },
    },
  });
  const loadBefore = loadNow();
  if (loadBefore > maxLoad && !values["any-load"]) {
    process.stderr.write(`bench: load ${loadBefore.toFixed(2)} is above ${maxLoad}; wait, or add --any-load\n`);
    process.exit(3);
  }
  collectGarbage();
  const helpers = new Set<number>([process.pid]);
  const nodes = Number(values.nodes);
  const from = performance.now();
  const busyFrom = busySeconds();
  const ownFrom = ownCpuSeconds();
  const answer = await run({
    nodes,
    samples: Number(values.samples),
    isShort: values.short,
    helpers,
    progress: (text) => process.stderr.write(`  ${((performance.now() - from) / 1000).toFixed(0)} s: ${text}\n`),
  });
  const seconds = (performance.now() - from) / 1000;
  helpers.delete(process.pid);
  const own =
    ownCpuSeconds() -
    ownFrom +
    endedChildrenCpuSeconds() +
    [...helpers].reduce((sum, pid) => sum + cpuSecondsOf(pid), 0);
  const foreignCores = Math.max(0, (busySeconds() - busyFrom - own) / seconds);
  const recorded: RecordedAnswer = { question, nodes, seconds, loadBefore, foreignCores, ...answer };
  if (values.out === undefined) show(recorded);
  else {
    mkdirSync(dirname(values.out), { recursive: true });
    writeFileSync(values.out, `${JSON.stringify(recorded, null, 2)}\n`);
  }
}

function show(answer: RecordedAnswer): void {
  const { cores, cpuModel, node } = describeMachine();
  const head = `${answer.question}, ${answer.nodes} nodes, ${answer.seconds.toFixed(0)} s, ${cores} cores of ${cpuModel}, Node ${node}`;
  const load = `load ${answer.loadBefore.toFixed(2)} before, ${answer.foreignCores.toFixed(2)} cores busy with other things meanwhile`;
  const times = answer.measurements.map(
    ({ name, cpuMs, wallMs }) =>
      `${name.padEnd(60)} ${cpuMs.toFixed(3).padStart(12)} ms CPU ${wallMs.toFixed(3).padStart(12)} ms wall`,
  );
  const figures = Object.entries(answer.figures).map(([name, value]) => `${name.padEnd(60)} ${value.toPrecision(4)}`);
  process.stdout.write(`${[head, load, ...times, ...figures, ...(answer.notes ?? [])].join("\n")}\n`);
}
