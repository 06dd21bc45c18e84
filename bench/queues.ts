/**
 * What 2,000 queues in five levels with 50,000 waiting workloads add to a cycle (finding what is in each queue, entitlement,
 * why everything waits, the schedulers' own numbers, lint), beside parsing the DCGM pages of the same cluster.
 *
 *     node --expose-gc bench/queues.ts [--nodes=10000] [--samples=7]
 */
import { analyse, analysisSettings } from "../exporter/analysis/analyse.ts";
import type { Analysis } from "../exporter/analysis/analysis.ts";
import { configSchema } from "../exporter/config/schema.ts";
import { join } from "../exporter/join/join.ts";
import { createJoinCache } from "../exporter/join/joinCache.ts";
import { emptyMemory, type Memory } from "../exporter/join/memory.ts";
import type { ClusterState, ObjectKind } from "../exporter/model/cluster.ts";
import type { Pod } from "../exporter/model/pod.ts";
import { nodeLabels } from "../exporter/model/wellKnown.ts";
import { createPageReader } from "../exporter/sources/dcgm/pageReader.ts";
import { createPageMaker } from "./dcgmPages.ts";
import { createFleet, timeOfCycle } from "./fleetState.ts";
import { type Contender, compare } from "./measure.ts";
import { type Answer, ask, type QuestionOptions } from "./question.ts";
import { createQueueFleet, inQueues, type QueueFleet } from "./queueObjects.ts";

const config = configSchema.parse({ cluster: "bench" });
const waiting = 50_000;
/** Pages that are parsed in one run; their time is scaled to all nodes. */
const pagesPerRun = 500;

/** Joins and analyses the same fleet cycle by cycle, as the exporter does. */
function watcher(name: string, nodes: number, queues: QueueFleet | null): Contender & { last(): Analysis | null } {
  const fleet = createFleet(nodes);
  const cache = createJoinCache();
  const settings = analysisSettings(config);
  const known = new WeakMap<Pod, Pod>();
  let memory: Memory = emptyMemory;
  let cycle = 0;
  let last: Analysis | null = null;
  const stateOf = (): ClusterState => {
    const state = fleet.state();
    if (queues === null) return state;
    const objects = queues.objects();
    const names = objects.kueueClusterQueues.map((queue) => queue.name);
    const kinds = Object.keys(objects).filter((kind): kind is ObjectKind => Object.hasOwn(objects, kind));
    return {
      ...state,
      pods: inQueues(state.pods, names, known),
      queues: objects,
      known: new Set<ObjectKind>([...state.known, ...kinds]),
    };
  };
  let next = stateOf();
  return {
    name,
    run: () => {
      const joined = join(next, memory, config, timeOfCycle(cycle), cache);
      memory = joined.memory;
      last = analyse(joined.snapshot, settings);
      cycle += 1;
    },
    // Not measured: what the cluster does meanwhile.
    prepare: () => {
      fleet.step();
      queues?.step();
      next = stateOf();
    },
    last: () => last,
  };
}

async function question({ nodes, samples, progress }: QuestionOptions): Promise<Answer> {
  progress("making pages, nodes and queues");
  const products = [
    ...new Set(
      createFleet(nodes)
        .state()
        .nodes.map((node) => node.labels[nodeLabels.gpuProduct] ?? ""),
    ),
  ];
  const maker = createPageMaker(8);
  const pages = [0, 1].map((round) => Array.from({ length: pagesPerRun }, (_, target) => maker.page(target, round)));
  const readers = Array.from({ length: pagesPerRun }, (_, target) =>
    createPageReader({ target: `t${target}`, node: `n${target}`, origin: "exporter", splitsByHost: false }),
  );
  let round = 0;
  const parse: Contender = {
    name: "parse",
    run: () => {
      for (const [target, page] of (pages[round % 2] ?? []).entries()) readers[target]?.read(page, round);
      round += 1;
    },
  };
  const plain = watcher("join and analyse", nodes, null);
  const queued = watcher("join and analyse with queues", nodes, createQueueFleet(products, nodes / 250, waiting));
  progress("measuring");
  const taken = await compare([parse, plain, queued], { samples, warmUps: 3 });
  const cpuOf = (name: string): number => taken.find((one) => one.name === name)?.cpuMs ?? Number.NaN;
  const pagesMs = (cpuOf("parse") * nodes) / pagesPerRun;
  const queuesMs = cpuOf("join and analyse with queues") - cpuOf("join and analyse");
  const found = queued.last();
  const figures = {
    queues: found?.snapshot.queueing.queues.length ?? Number.NaN,
    gangs: found?.snapshot.queueing.gangs.length ?? Number.NaN,
    queuesMs,
    parseAllPagesMs: pagesMs,
    ratioOfQueuesToParse: queuesMs / pagesMs,
  };
  return { measurements: taken, figures, notes: [JSON.stringify(figures)] };
}

await ask("queues", question);
