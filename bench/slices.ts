/**
 * How long does one piece of work keep the process from answering, and what does each stage cost? A generated fleet goes
 * through whole cycles, with a ledger. `node bench/slices.ts [--nodes=1000,10000] [--cycles=8]`
 *
 * Times are of the main thread, over the cycles after the first six: the median of a stage's CPU time, and the longest
 * of its slices.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { parseArgs } from "node:util";
import { prepareLedger } from "../cli/ledgerOutput.ts";
import { parseConfig } from "../exporter/config/load.ts";
import { createCycle } from "../exporter/cycle.ts";
import { inSlices } from "../exporter/kernel/inSlices.ts";
import { noAdvice } from "../exporter/model/recommendation.ts";
import { documentOf } from "../exporter/publish/document/buildDocument.ts";
import { jsonChunks } from "../exporter/publish/document/jsonChunks.ts";
import { createListBuilder, everyList } from "../exporter/publish/document/listBuilder.ts";
import { explainInSteps } from "../exporter/publish/explain/explain.ts";
import { type Publication, publicationInSteps } from "../exporter/publish/publication.ts";
import type { Source } from "../exporter/sources/port.ts";
import { createFleet, timeOfCycle } from "./fleetState.ts";
import { type SliceTimes, watchSlices } from "./longestSlice.ts";

const warmUps = 6;

const { values } = parseArgs({
  options: { nodes: { type: "string", default: "1000,10000" }, cycles: { type: "string", default: "8" } },
});
for (const nodes of values.nodes.split(",")) await measure(Number(nodes), Number(values.cycles));

async function measure(nodes: number, cycles: number): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "fairlead-slices-"));
  const parsed = parseConfig(`cluster: bench\nledger: {path: ${join(folder, "ledger.db")}}`);
  if (!parsed.ok) throw new Error(parsed.errors[0]?.message);
  const config = parsed.value;
  const prepared = await prepareLedger(config);
  if (!prepared.ok || prepared.output === null) throw new Error("no ledger");
  const ledger = prepared.output;
  const fleet = createFleet(nodes);
  const found = new Map<string, SliceTimes[]>();
  const cold = new Map<string, number>();
  let isWarm = false;
  let at = timeOfCycle(0);
  let state = fleet.state();
  let publication: Publication | null = null;
  const rendered = new Map();

  async function watched<Result>(name: string, work: () => Result | Promise<Result>): Promise<Result> {
    const { result, times } = await watchSlices(work);
    if (isWarm) found.set(name, [...(found.get(name) ?? []), times]);
    else cold.set(name, Math.max(cold.get(name) ?? 0, times.longestMs));
    return result;
  }

  const cycle = createCycle({
    config,
    version: "bench",
    kubernetes: fixed("kubernetes", () => ({ ...state, exporterPods: [], resourceVersions: {}, podCount: 0 })),
    dcgm: [fixed("dcgm", () => ({ pages: state.telemetry, targets: nodes, targetsUp: nodes }))],
    now: () => at,
    monotonic: () => at,
    runStage: watched,
    memory: ledger.memory,
    onStep: (step, memory) => watched("ledger", () => ledger.onStep(step, memory)),
    publish: async (analysis, health, accounts) => {
      publication = await inSlices(publicationInSteps(analysis, health, config.limits, "", accounts, rendered));
    },
  });
  for (let done = 0; done < warmUps + cycles; done += 1) {
    at = timeOfCycle(done);
    state = fleet.state();
    isWarm = done >= warmUps;
    await cycle.run();
    await ask();
    // As in the exporter, the ledger's thread has written a step before the next one comes.
    await wait(nodes / 10);
    fleet.step();
  }
  const [fault] = cycle.health().problems.filter(({ source }) => source === "cycle");
  if (fault !== undefined) throw new Error(fault.message);
  await ledger.close();
  rmSync(folder, { recursive: true });
  print(nodes, found, cold);

  async function ask(): Promise<void> {
    const analysis = cycle.latest();
    if (analysis === null || publication === null) return;
    await watched("list of teams", () => createListBuilder(analysis).teams());
    await watched("document", async () => {
      const document = documentOf(analysis, await everyList(createListBuilder(analysis)), [], noAdvice);
      return lengthOf(jsonChunks(document));
    });
    const pods = analysis.snapshot.pods.map((pod, i) => (i < 10_000 ? { ...pod, team: "large" } : pod));
    const teams = [{ ...(analysis.teams[0] ?? never()), team: "large" }];
    const large = { ...analysis, teams, snapshot: { ...analysis.snapshot, pods } };
    const input = { analysis: large, settings: config, problems: [], bookedTime: null };
    await watched("explain", async () => {
      const explained = await inSlices(explainInSteps("team", "large", input));
      if (!explained.ok) throw new Error(explained.error);
      return lengthOf(jsonChunks(explained.explanation));
    });
    await watched("explain, mistyped", () => inSlices(explainInSteps("pod", "ns-1/train-x", input)));
  }
}

function fixed<State>(name: string, read: () => State): Source<State> {
  const nothing = async () => {};
  const part = (kind: string) => ({ part: kind, ageSeconds: 0, fresh: true });
  const freshness = () => [part("nodes"), part("pods")];
  return { name, start: nothing, stop: nothing, read, freshness, problems: () => [] };
}

function print(
  nodes: number,
  found: ReadonlyMap<string, readonly SliceTimes[]>,
  cold: ReadonlyMap<string, number>,
): void {
  process.stdout.write(`\n${nodes} nodes | CPU ms, median | longest slice ms | while warming up\n`);
  for (const [name, times] of found) {
    const cpu = times.map(({ cpuMs }) => cpuMs).toSorted((a, b) => a - b);
    const longest = times.map(({ longestMs }) => longestMs).toSorted((a, b) => a - b);
    const middle = Math.floor(cpu.length / 2);
    process.stdout.write(
      `${name} | ${cpu[middle]?.toFixed(1)} | ${longest[longest.length - 1]?.toFixed(1)} (median ${longest[middle]?.toFixed(1)}) | ${cold.get(name)?.toFixed(1)}\n`,
    );
  }
}

async function lengthOf(chunks: AsyncIterable<string>): Promise<number> {
  let length = 0;
  for await (const chunk of chunks) length += chunk.length;
  return length;
}

function never(): never {
  throw new Error("the fleet has no team");
}
