import { performance } from "node:perf_hooks";
import { setTimeout } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";

// Collecting garbage before each sample also ages code, and after a few collections V8 discards code that has not run since. A
// contender whose turn comes after two others would begin cold each time, which the product does not.
setFlagsFromString("--no-flush-bytecode");

/** One way of doing something. `run` does it once (one iteration). */
export interface Contender {
  readonly name: string;
  readonly run: () => unknown;
  /** What must happen before each sample without being measured. */
  readonly prepare?: () => void | Promise<void>;
  /** CPU seconds of the process that does the work, if it is another one; by default, those of this process. */
  readonly cpuSeconds?: () => number;
  /** Runs per sample, if this contender needs more than the others so that the samples of a pair last about equally long. */
  readonly iterations?: number;
}

/** What one iteration took, in milliseconds. */
export interface Sample {
  readonly cpuMs: number;
  readonly wallMs: number;
}

/** All samples of a contender, with their medians. */
export interface Measurement extends Sample {
  readonly name: string;
  readonly iterations: number;
  readonly samples: readonly Sample[];
}

export interface CompareOptions {
  /** Runs per sample. The number is fixed, so that every sample is the same work. */
  readonly iterations?: number;
  /** Samples per contender; the median counts. */
  readonly samples?: number;
  /** Samples at the beginning that are not counted. */
  readonly warmUps?: number;
  /**
   * The garbage that is collected before each sample. `young` is for short work beside a large heap: collecting all of it takes
   * a hundred times longer than the sample, and also discards code that was warm.
   */
  readonly garbage?: "all" | "young";
}

/**
 * Measures contenders side by side. Their samples alternate, and garbage is collected before each sample. CPU time is measured
 * as well as wall time; it counts all threads of the process, including garbage collection.
 */
export async function compare(
  contenders: readonly Contender[],
  options: CompareOptions = {},
): Promise<readonly Measurement[]> {
  const { iterations = 1, samples = 7, warmUps = 1, garbage = "all" } = options;
  const taken = contenders.map((contender) => ({ contender, samples: [] as Sample[] }));
  for (let round = -warmUps; round < samples; round += 1) {
    for (const one of taken) {
      await one.contender.prepare?.();
      const sample = await takeSample(one.contender, one.contender.iterations ?? iterations, garbage);
      if (round >= 0) one.samples.push(sample);
    }
  }
  return taken.map(({ contender, samples: all }) => summary(contender.name, contender.iterations ?? iterations, all));
}

/**
 * A ratio of CPU times: the median of the ratios of all rounds, each of which uses samples that are close to each other in
 * time. A busy neighbour affects the caches of both samples of such a pair, while a quotient of two medians may compare one
 * contender's quiet moments with the other's busy ones. `ratio` gets the milliseconds of a contender in the round by its name.
 */
export function ratioByRounds(
  taken: readonly Measurement[],
  ratio: (cpuMs: (name: string) => number) => number,
): number {
  const byName = new Map(taken.map(({ name, samples }) => [name, samples]));
  const rounds = Math.min(...taken.map(({ samples }) => samples.length));
  return median(
    Array.from({ length: rounds }, (_, round) => ratio((name) => byName.get(name)?.[round]?.cpuMs ?? Number.NaN)),
  );
}

/** A measurement made from samples that were taken elsewhere. */
export function summary(name: string, iterations: number, samples: readonly Sample[]): Measurement {
  return {
    name,
    iterations,
    cpuMs: median(samples.map(({ cpuMs }) => cpuMs)),
    wallMs: median(samples.map(({ wallMs }) => wallMs)),
    samples,
  };
}

async function takeSample(
  { run, cpuSeconds = ownCpuSeconds }: Contender,
  iterations: number,
  garbage: "all" | "young",
): Promise<Sample> {
  collectGarbage(garbage);
  if (garbage === "all") await otherThreadsAtRest();
  const cpuFrom = cpuSeconds();
  const from = performance.now();
  for (let done = 0; done < iterations; done += 1) {
    const result = run();
    if (result instanceof Promise) await result;
  }
  const wallMs = (performance.now() - from) / iterations;
  return { cpuMs: ((cpuSeconds() - cpuFrom) * 1000) / iterations, wallMs };
}

/**
 * Waits until the other threads of the process have swept what a collection found to be garbage. In a large heap that takes a
 * tenth of a second, which would count for the sample that comes next: for a short one, more than its own time.
 */
async function otherThreadsAtRest(): Promise<void> {
  for (let looks = 0; looks < mostLooks; looks += 1) {
    const from = ownCpuSeconds();
    await setTimeout(lookMs);
    if ((ownCpuSeconds() - from) * 1000 < lookMs / 10) return;
  }
}

const lookMs = 20;
const mostLooks = 100;

/** CPU seconds of this process so far, user and system. */
export function ownCpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

/** Collects garbage; throws without `--expose-gc`, since numbers without it are not comparable. */
export function collectGarbage(what: "all" | "young" = "all"): void {
  if (globalThis.gc === undefined) throw new Error("run it with node --expose-gc");
  if (what === "young") {
    globalThis.gc({ type: "minor", execution: "sync" });
    return;
  }
  globalThis.gc();
  // The second one frees what the first left, a thousandth of the heap of a cluster with queues.
  globalThis.gc();
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** A quantile by linear interpolation; `NaN` if there are no values. */
export function quantile(values: readonly number[], q: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (sorted.length - 1) * q;
  const low = sorted[Math.floor(at)] ?? Number.NaN;
  const high = sorted[Math.ceil(at)] ?? Number.NaN;
  return low + (high - low) * (at - Math.floor(at));
}

/** The slope of log(y) over log(x) by least squares: how y grows with x. */
export function growthExponent(points: readonly { readonly x: number; readonly y: number }[]): number {
  const logs = points.map(({ x, y }) => ({ x: Math.log(x), y: Math.log(y) }));
  const mean = (pick: (point: { x: number; y: number }) => number): number =>
    logs.reduce((sum, point) => sum + pick(point), 0) / logs.length;
  const [mx, my] = [mean(({ x }) => x), mean(({ y }) => y)];
  return mean(({ x, y }) => (x - mx) * (y - my)) / mean(({ x }) => (x - mx) ** 2);
}
