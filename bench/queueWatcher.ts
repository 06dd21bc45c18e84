import { analyse, analysisSettings } from "../exporter/analysis/analyse.ts";
import type { Analysis } from "../exporter/analysis/analysis.ts";
import { createPlacementCache } from "../exporter/analysis/placement/measurePlacement.ts";
import { createPriceCache } from "../exporter/analysis/prices/priceNodes.ts";
import { createLevelsCache } from "../exporter/analysis/topology/levels.ts";
import { configSchema } from "../exporter/config/schema.ts";
import { join } from "../exporter/join/join.ts";
import { createJoinCache } from "../exporter/join/joinCache.ts";
import { emptyMemory, type Memory } from "../exporter/join/memory.ts";
import { withFindings } from "../exporter/join/remember.ts";
import type { ClusterState, ObjectKind } from "../exporter/model/cluster.ts";
import type { Pod } from "../exporter/model/pod.ts";
import type { QueueObjects } from "../exporter/model/queues/queueObjects.ts";
import { createFleet, timeOfCycle } from "./fleetState.ts";
import type { Contender } from "./measure.ts";
import { inQueues, localQueuesOf, type QueueFleet } from "./queueObjects.ts";

const config = configSchema.parse({ cluster: "bench" });

/** A cluster that is analysed cycle by cycle. */
export interface Watcher extends Contender {
  last(): Analysis | null;
}

/**
 * Makes a contender that joins and analyses the same fleet cycle by cycle, as the exporter does, with all that it keeps from one
 * cycle to the next. Each time one pod in a hundred is replaced, one node in a thousand is cordoned or uncordoned, and the queues
 * change.
 */
export function watcher(name: string, count: number, queues: QueueFleet | null): Watcher {
  const fleet = createFleet(count);
  const cache = createJoinCache();
  const settings = {
    ...analysisSettings(config),
    placementCache: createPlacementCache(),
    priceCache: createPriceCache(),
    levelsCache: createLevelsCache(),
  };
  const known = new WeakMap<Pod, Pod>();
  let memory: Memory = emptyMemory;
  let cycle = 0;
  let last: Analysis | null = null;
  let localQueues: QueueObjects["kueueLocalQueues"] | null = null;
  let { nodes } = fleet.state();
  const stateOf = (): ClusterState => {
    const state = { ...fleet.state(), nodes };
    if (queues === null) return state;
    const objects = queues.objects();
    const names = objects.kueueClusterQueues.map((queue) => queue.name);
    const kinds = Object.keys(objects).filter((kind): kind is ObjectKind => Object.hasOwn(objects, kind));
    const pods = inQueues(state.pods, names, known);
    localQueues ??= [...objects.kueueLocalQueues, ...localQueuesOf(pods)];
    return {
      ...state,
      pods,
      queues: { ...objects, kueueLocalQueues: localQueues },
      known: new Set<ObjectKind>([...state.known, ...kinds]),
    };
  };
  let next = stateOf();
  return {
    name,
    run: () => {
      const joined = join(next, memory, config, timeOfCycle(cycle), cache);
      const { shortSince, blockedSince, idleNodeSince } = memory;
      last = analyse(joined.snapshot, { ...settings, shortSince, blockedSince, idleNodeSince });
      memory = withFindings(
        joined.memory,
        { shortSince: last.shortSince, blockedSince: last.blocked.since, idleNodeSince: last.idleNodes.since },
        cache,
      );
      cycle += 1;
    },
    // The changes of the cluster in the meantime are not measured.
    prepare: () => {
      fleet.step();
      queues?.step();
      nodes = nodes.map((node, i) =>
        i % 1000 === cycle % 1000 ? { ...structuredClone(node), unschedulable: !node.unschedulable } : node,
      );
      next = stateOf();
    },
    last: () => last,
  };
}
