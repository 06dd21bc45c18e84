import { describe, expect, test } from "vitest";
import type { PageReaderOptions } from "../../../exporter/sources/dcgm/pageReader.ts";
import { startSimulator } from "../../../simulator/simulator.ts";
import { generatedScenario } from "../../simulator/scenarios/generated.ts";
import { captureNames, captureOf } from "./captures.ts";
import { below, mutated, pick, type Random, randomOf } from "./mutations.ts";
import { createTwinReader } from "./twins.ts";

/** Rounds that every run makes. With FAIRLEAD_FUZZ_SECONDS it goes on for so long, from another seed each time. */
const rounds = 400;
const seconds = Number(process.env.FAIRLEAD_FUZZ_SECONDS ?? 0);
const pagesPerRound = 8;

/** Pages of one target, in the order in which it served them. */
type Series = readonly [Buffer, ...Buffer[]];

type Limits = NonNullable<PageReaderOptions["limits"]>;
const smallLimits: readonly [Limits, ...Limits[]] = [
  { maxGpus: 2 },
  { maxInstancesPerGpu: 1 },
  { maxClaimantsPerDevice: 1 },
  { maxRows: 5 },
];

function optionsOf(random: Random): PageReaderOptions {
  const splitsByHost = random() < 0.3;
  return {
    target: "t",
    node: splitsByHost || random() < 0.3 ? null : "node-a",
    origin: pick(random, ["exporter", "exporter", "prometheus", "file"]),
    splitsByHost,
    ...(random() < 0.2 ? { limits: pick(random, smallLimits) } : {}),
  };
}

/** One reader, and pages that are like the one before, or broken, or another's. The first fault, if there is one. */
function runRound(seed: number, seeds: readonly [Series, ...Series[]]): string | null {
  const random = randomOf(seed);
  const twin = createTwinReader(optionsOf(random));
  let series = pick(random, seeds);
  let page = pick(random, series);
  for (let turn = 0; turn < pagesPerRound; turn += 1) {
    const kind = random();
    if (kind < 0.1) series = pick(random, seeds);
    if (kind < 0.3) page = pick(random, series);
    else if (kind < 0.6) page = mutated(page, random);
    else if (kind < 0.8) page = mutated(pick(random, series), random);
    const fault = twin.read(page, turn);
    if (fault !== null) return `seed ${seed}, page ${turn}: ${fault}`;
    if (page.length > 1_000_000) page = page.subarray(0, below(random, page.length));
  }
  return null;
}

async function simulatedSeries(): Promise<readonly Series[]> {
  const series = new Map<string, Buffer[]>();
  for (const seed of [1, 2, 3]) {
    const simulator = await startSimulator({ scenario: generatedScenario(seed, 6), seed, startAt: 1_795_000_020 });
    try {
      for (let turn = 0; turn < 4; turn += 1) {
        for (const [node, url] of simulator.metricsUrls) {
          const body = Buffer.from(await (await fetch(url)).arrayBuffer());
          const key = `${seed} ${node}`;
          series.set(key, [...(series.get(key) ?? []), body]);
        }
        simulator.advance(90);
      }
    } finally {
      await simulator.stop();
    }
  }
  return [...series.values()].flatMap(([first, ...rest]) => (first === undefined ? [] : [[first, ...rest] as const]));
}

describe("whatever an exporter answers", () => {
  test(
    "a reader that remembers says what the naive reader says, and keeps its word about identity",
    async () => {
      const captured = captureNames().map((name): Series => [captureOf(name)]);
      const simulated = await simulatedSeries();
      const [first, ...rest] = [...captured, ...simulated];
      if (first === undefined) throw new Error("no pages");
      expect([captured.length > 10, simulated.length > 6]).toEqual([true, true]);
      const until = Date.now() + 1000 * seconds;
      const start = seconds > 0 ? Math.floor(until) : 0;
      const faults: string[] = [];
      let done = 0;
      while (faults.length === 0 && (done < rounds || Date.now() < until)) {
        const fault = runRound(start + done, [first, ...rest]);
        if (fault !== null) faults.push(fault);
        done += 1;
      }
      if (seconds > 0) process.stderr.write(`fuzz: ${done} rounds of ${pagesPerRound} pages\n`);
      expect(faults).toEqual([]);
    },
    300_000 + 1000 * seconds,
  );
});
