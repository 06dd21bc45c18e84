/**
 * Measures what all measures of topology cost, from scratch and after 100 pods have changed, compared with parsing the DCGM pages
 * of the same 10,000 nodes. The nodes are in racks of 18 and blocks of 32 racks, as a Topology of Kueue says, and a third of the
 * pods are missing, so that nearly every node has something free.
 *
 *     node --expose-gc bench/topology.ts [--nodes=10000] [--samples=7]
 */

import { findFreeCapacities } from "../exporter/analysis/freeCapacity/freeCapacities.ts";
import { createPlacementCache, measurePlacement } from "../exporter/analysis/placement/measurePlacement.ts";
import { createLevelsCache, findLevels, type LevelsCache } from "../exporter/analysis/topology/levels.ts";
import { measureTopology } from "../exporter/analysis/topology/measureTopology.ts";
import type { Topology } from "../exporter/analysis/topology/topology.ts";
import { typicalRequestOf } from "../exporter/analysis/topology/typicalRequestOf.ts";
import { configSchema } from "../exporter/config/schema.ts";
import { join } from "../exporter/join/join.ts";
import { createJoinCache } from "../exporter/join/joinCache.ts";
import { emptyMemory, type Memory } from "../exporter/join/memory.ts";
import type { Snapshot } from "../exporter/join/snapshot.ts";
import type { ClusterState } from "../exporter/model/cluster.ts";
import type { ClusterNode } from "../exporter/model/node.ts";
import { timeOfCycle } from "./fleetState.ts";
import { type Contender, compare, ratioByRounds } from "./measure.ts";
import { pagesPerRun, parseContender } from "./parsedPages.ts";
import { createPlacedFleet } from "./placedFleet.ts";
import { mainThreadSeconds } from "./processCpu.ts";
import { type Answer, ask, type QuestionOptions } from "./question.ts";

const config = configSchema.parse({ cluster: "bench" });
const nodesPerRack = 18;
const racksPerBlock = 32;
const labels = ["bench.example.com/block", "bench.example.com/rack"] as const;

/** Puts nodes into racks and blocks, and adds the Topology that declares these. */
function inRacks({ nodes, queues }: ClusterState): Pick<ClusterState, "nodes" | "queues"> {
  const levels = labels.map((nodeLabel) => ({ nodeLabel, alias: null }));
  // Racks have nodes of one model, as far as they can.
  const modelOf = ({ labels: own }: ClusterNode): string => own["nvidia.com/gpu.product"] ?? "";
  const byModel = [...nodes].sort((a, b) => (modelOf(a) < modelOf(b) ? -1 : modelOf(a) > modelOf(b) ? 1 : 0));
  const places = new Map(byModel.map(({ name }, i) => [name, i]));
  return {
    nodes: nodes.map((node) => {
      const rack = Math.floor((places.get(node.name) ?? 0) / nodesPerRack);
      const place = { [labels[0]]: `b${Math.floor(rack / racksPerBlock)}`, [labels[1]]: `r${rack}` };
      return { ...node, labels: { ...node.labels, ...place } };
    }),
    queues: { ...queues, kueueTopologies: [{ name: "racks", levels }] },
  };
}

async function question({ nodes, samples, progress }: QuestionOptions): Promise<Answer> {
  progress("making pages, nodes and pods");
  const parse = parseContender(mainThreadSeconds);
  const fleet = createPlacedFleet(nodes);
  const racks = inRacks(fleet.state());
  const joinCache = createJoinCache();
  const placementCache = createPlacementCache();
  let memory: Memory = emptyMemory;
  let cycle = 0;
  const next = () => {
    fleet.step();
    const joined = join({ ...fleet.state(), ...racks }, memory, config, timeOfCycle(cycle), joinCache);
    memory = joined.memory;
    cycle += 1;
    const { snapshot } = joined;
    const freeCapacities = findFreeCapacities(snapshot, placementCache.freeCapacities);
    const settings = { targetWorkload: [], ended: null };
    const { pools } = measurePlacement(snapshot, settings, placementCache, freeCapacities);
    return { snapshot, freeCapacities, requestOf: typicalRequestOf(pools) };
  };
  let now = next();
  const measure = (cache: LevelsCache): Topology => {
    const { snapshot, freeCapacities, requestOf } = now;
    const found = findLevels(snapshot.nodes, [], snapshot.queueObjects, cache);
    return measureTopology(freeCapacities, found, requestOf);
  };
  const cache = createLevelsCache();
  let topology = measure(cache);
  const scratch: Contender = {
    name: "topology from scratch",
    iterations: 3,
    cpuSeconds: mainThreadSeconds,
    run: () => measure(createLevelsCache()),
  };
  const changed: Contender = {
    name: "topology after 100 pod changes",
    cpuSeconds: mainThreadSeconds,
    run: () => {
      topology = measure(cache);
    },
    // The changes of the cluster in the meantime, the join and the free capacity are not measured.
    prepare: () => {
      now = next();
    },
  };
  progress("measuring");
  const taken = await compare([parse, scratch, changed], { samples, warmUps: 8, garbage: "young" });
  const cpuOf = (name: string): number => taken.find((one) => one.name === name)?.cpuMs ?? Number.NaN;
  const toParse = (name: string): number =>
    ratioByRounds(taken, (ms) => ms(name) / ((ms("parse") * nodes) / pagesPerRun));

  const fresh = measure(createLevelsCache());
  topology = measure(cache);
  if (JSON.stringify(fresh) !== JSON.stringify(topology)) throw new Error("the cache changed the answer");
  const figures = {
    ...figuresOf(topology, now.snapshot),
    scratchMs: cpuOf("topology from scratch"),
    changedMs: cpuOf("topology after 100 pod changes"),
    parseAllPagesMs: (cpuOf("parse") * nodes) / pagesPerRun,
    ratioOfScratchToParse: toParse("topology from scratch"),
    ratioOfChangedToParse: toParse("topology after 100 pod changes"),
  };
  return { measurements: taken, figures, notes: [JSON.stringify(figures)] };
}

function figuresOf({ pools }: Topology, { nodes }: Snapshot) {
  const racks = pools.flatMap(({ levels }) => levels.find(({ level }) => level === labels[1]) ?? []);
  return {
    nodes: nodes.length,
    racks: racks.reduce((sum, { domains }) => sum + domains.length, 0),
    slotsOf8: racks.reduce((sum, { gangs }) => sum + (gangs[0]?.slots ?? 0), 0),
  };
}

await ask("topology", question);
