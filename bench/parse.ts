/**
 * Measures reading dcgm-exporter's pages (51 to 57 KB, 8 GPUs x 20 metrics), each from another target. Compared are counting
 * the newlines of the same bytes, the npm parser, the naive reader, and Fairlead's reader at a target's first page and at its
 * next ones. All readers return the readings of the devices, except for the npm parser, which returns its own objects.
 *
 *     node --expose-gc bench/parse.ts [--nodes=1000] [--samples=7]
 */
import { createRequire } from "node:module";
import { createPageReader, type PageReader } from "../exporter/sources/dcgm/pageReader.ts";
import { createPageMaker } from "./dcgmPages.ts";
import { type Contender, collectGarbage, compare, type Measurement, ratioByRounds } from "./measure.ts";
import { readPage } from "./naive/dcgm/reduce.ts";
import { type Answer, ask, type QuestionOptions } from "./question.ts";

const gpus = 8;
/** The number of scrapes of each target that are kept in memory; the reader gets them by turns. */
const rounds = 2;

/** Something that is done with pages. `pages`: how many pages one run has; slow tasks get fewer. */
interface Task {
  readonly name: string;
  readonly pages: number;
  readonly read: (page: Buffer, target: number, round: number) => unknown;
}

function contenderOf({ name, pages, read }: Task, allocated: readonly (readonly Buffer[])[]): Contender {
  let round = 0;
  return {
    name,
    run: () => {
      const [now, at] = [allocated[round % rounds] ?? [], round];
      for (let target = 0; target < pages; target += 1) {
        const page = now[target];
        if (page !== undefined) read(page, target, at);
      }
      round += 1;
    },
  };
}

function countNewlines(page: Buffer): number {
  let count = 0;
  for (let at = page.indexOf(10); at >= 0; at = page.indexOf(10, at + 1)) count += 1;
  return count;
}

function readerOf(target: number): PageReader {
  const name = `http://10.0.${target >> 8}.${target & 255}:9400/metrics`;
  return createPageReader({ target: name, node: `gpu-node-${target}`, origin: "exporter", splitsByHost: false });
}

/** The npm parser; `null` if it is not installed. */
function npmParser(): ((text: string) => unknown) | null {
  try {
    return createRequire(import.meta.url)("parse-prometheus-text-format");
  } catch {
    return null;
  }
}

/** Heap and buffers that readers and their last pages keep, in bytes per GPU. */
function bytesPerGpu(allocated: readonly (readonly Buffer[])[], targets: number): number {
  const now = (): number => {
    collectGarbage();
    const { heapUsed, external } = process.memoryUsage();
    return heapUsed + external;
  };
  const keep = (target: number): unknown => {
    const reader = readerOf(target);
    const results = allocated.map((pages, round) => reader.read(pages[target] ?? Buffer.alloc(0), round));
    return { reader, page: results.at(-1)?.pages[0] };
  };
  // Compiled code must not count for the GPUs, so some pages are read before.
  for (let target = 0; target < Math.min(targets, 200); target += 1) keep(target);
  const kept: unknown[] = new Array(targets).fill(null);
  const before = now();
  for (let target = 0; target < targets; target += 1) kept[target] = keep(target);
  const bytes = now() - before;
  return kept.includes(null) ? Number.NaN : bytes / (targets * gpus);
}

async function question({ nodes, samples, isShort, progress }: QuestionOptions): Promise<Answer> {
  progress(`writing ${rounds} x ${nodes} pages`);
  const maker = createPageMaker(gpus);
  const allocated = Array.from({ length: rounds }, (_unused, round) =>
    Array.from({ length: nodes }, (_other, target) => maker.page(target, round)),
  );
  const pageBytes = allocated[0]?.[0]?.length ?? 0;
  const memory = isShort ? Number.NaN : bytesPerGpu(allocated, nodes);
  const readers = Array.from({ length: nodes }, (_unused, target) => readerOf(target));
  const parse = npmParser();
  const tasks: Task[] = [
    { name: "count newlines", pages: nodes, read: countNewlines },
    {
      name: "naive reader",
      pages: Math.min(nodes, 500),
      read: (page, target, receivedAt) =>
        readPage(page, { target: "t", node: `gpu-node-${target}`, origin: "exporter", receivedAt }),
    },
    {
      name: "a target's first page",
      pages: Math.min(nodes, 500),
      read: (page, target, round) => readerOf(target).read(page, round),
    },
    { name: "a target's next page", pages: nodes, read: (page, target, round) => readers[target]?.read(page, round) },
  ];
  if (parse !== null) {
    const pages = Math.min(nodes, 200);
    tasks.push({ name: "npm parse-prometheus-text-format", pages, read: (page) => parse(page.toString("utf8")) });
  }
  progress("measuring");
  const taken = await compare(
    tasks.map((task) => contenderOf(task, allocated)),
    { samples, warmUps: 4 },
  );
  // From here on, times are those of one page.
  const measurements = taken.map((one, index) => perPage(one, tasks[index]?.pages ?? 1));
  const ratio = (of: string, to: string): number => ratioByRounds(measurements, (ms) => ms(of) / ms(to));
  const [newlines, next] = ["count newlines", "a target's next page"];
  const figures = {
    pageBytes,
    ratioOfNextPageToNewlines: ratio(next, newlines),
    ratioOfFirstPageToNewlines: ratio("a target's first page", newlines),
    ratioOfNaiveReaderToNextPage: ratio("naive reader", next),
    ...(parse === null ? {} : { ratioOfNpmParserToNextPage: ratio("npm parse-prometheus-text-format", next) }),
    bytesPerGpu: memory,
  };
  return {
    measurements,
    figures,
    notes: [JSON.stringify(figures), ...(parse === null ? ["parse-prometheus-text-format is not installed"] : [])],
  };
}

function perPage(one: Measurement, pages: number): Measurement {
  const samples = one.samples.map(({ cpuMs, wallMs }) => ({ cpuMs: cpuMs / pages, wallMs: wallMs / pages }));
  return { ...one, cpuMs: one.cpuMs / pages, wallMs: one.wallMs / pages, samples };
}

await ask("parse", question);
