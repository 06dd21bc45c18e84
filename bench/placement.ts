/**
 * Measures what all measures of placement cost, from scratch and after 100 pods have changed, compared with parsing the DCGM
 * pages of the same 10,000 nodes. A third of the pods are missing, so that nearly every node has something free, and the pods
 * that run have about a hundred common shapes.
 *
 *     node --expose-gc bench/placement.ts [--nodes=10000] [--samples=7]
 */

import { findFreeCapacities } from "../exporter/analysis/freeCapacity/freeCapacities.ts";
import { createPlacementCache, measurePlacement } from "../exporter/analysis/placement/measurePlacement.ts";
import type { Placement } from "../exporter/analysis/placement/poolPlacement.ts";
import { configSchema } from "../exporter/config/schema.ts";
import { join } from "../exporter/join/join.ts";
import { createJoinCache } from "../exporter/join/joinCache.ts";
import { emptyMemory, type Memory } from "../exporter/join/memory.ts";
import type { Snapshot } from "../exporter/join/snapshot.ts";
import { timeOfCycle } from "./fleetState.ts";
import { type Contender, compare, ratioByRounds } from "./measure.ts";
import { pagesPerRun, parseContender } from "./parsedPages.ts";
import { createPlacedFleet } from "./placedFleet.ts";
import { mainThreadSeconds } from "./processCpu.ts";
import { type Answer, ask, type QuestionOptions } from "./question.ts";

const config = configSchema.parse({ cluster: "bench" });

/** Does what a cycle does for placement, including free capacity, which a cycle also uses for other questions. */
function measureAll(snapshot: Snapshot, cache: ReturnType<typeof createPlacementCache>): Placement {
  const freeCapacities = findFreeCapacities(snapshot, cache.freeCapacities);
  return measurePlacement(snapshot, { targetWorkload: [], ended: null }, cache, freeCapacities);
}

async function question({ nodes, samples, progress }: QuestionOptions): Promise<Answer> {
  progress("making pages, nodes and pods");
  const parse = parseContender(mainThreadSeconds);

  const fleet = createPlacedFleet(nodes);
  const joinCache = createJoinCache();
  const placementCache = createPlacementCache();
  let memory: Memory = emptyMemory;
  let cycle = 0;
  const nextSnapshot = (): Snapshot => {
    fleet.step();
    const joined = join(fleet.state(), memory, config, timeOfCycle(cycle), joinCache);
    memory = joined.memory;
    cycle += 1;
    return joined.snapshot;
  };
  let snapshot = nextSnapshot();
  let placement = measureAll(snapshot, placementCache);
  const scratch: Contender = {
    name: "placement from scratch",
    iterations: 3,
    cpuSeconds: mainThreadSeconds,
    run: () => measureAll(snapshot, createPlacementCache()),
  };
  const changed: Contender = {
    name: "placement after 100 pod changes",
    cpuSeconds: mainThreadSeconds,
    run: () => {
      placement = measureAll(snapshot, placementCache);
    },
    // The changes of the cluster in the meantime and the join are not measured.
    prepare: () => {
      snapshot = nextSnapshot();
    },
  };
  progress("measuring");
  const taken = await compare([parse, scratch, changed], { samples, warmUps: 8, garbage: "young" });
  const cpuOf = (name: string): number => taken.find((one) => one.name === name)?.cpuMs ?? Number.NaN;
  const parseAllPagesMs = (cpuOf("parse") * nodes) / pagesPerRun;
  const toParse = (name: string): number =>
    ratioByRounds(taken, (ms) => ms(name) / ((ms("parse") * nodes) / pagesPerRun));

  const fresh = measureAll(snapshot, createPlacementCache());
  placement = measureAll(snapshot, placementCache);
  if (JSON.stringify(fresh) !== JSON.stringify(placement)) throw new Error("the cache changed the answer");
  const figures = {
    shapes: placement.target.shapes.length,
    nodesWithFreeGpus: nodesWithFreeGpus(snapshot),
    freeGpus: placement.pools.reduce((sum, { freeGpus }) => sum + freeGpus, 0),
    scratchMs: cpuOf("placement from scratch"),
    changedMs: cpuOf("placement after 100 pod changes"),
    parseAllPagesMs,
    ratioOfScratchToParse: toParse("placement from scratch"),
    ratioOfChangedToParse: toParse("placement after 100 pod changes"),
  };
  return { measurements: taken, figures, notes: [JSON.stringify(figures)] };
}

function nodesWithFreeGpus({ nodes, devices }: Snapshot): number {
  return nodes.filter((node) => node.devices.some((device) => devices[device]?.holders.length === 0)).length;
}

await ask("placement", question);
