import type { WaitingGang } from "../../join/queues/queueing.ts";
import type { Snapshot } from "../../join/snapshot.ts";
import type { Blocker } from "../../model/blockers.ts";
import { toleratesAll } from "../../model/queues/nodeMatch.ts";
import type { PodNeeds } from "../../model/queues/podNeeds.ts";
import type { GangFit, PlacedPods, PoolTotal } from "../freeCapacity/gangFit.ts";
import type { AskedPods, GangFreeCapacities } from "../freeCapacity/gangFreeCapacities.ts";
import { onlyModelLabels, withoutModelLabels } from "../freeCapacity/nodeRules.ts";
import { findTopologyBlocks, type TopologyBlocks } from "../topology/topologyBlocks.ts";
import { type Blocked, type BlockedWork, nothingBlocked } from "./blocked.ts";
import { asksForInstances, createMigGeometry, type MigGeometry } from "./migGeometry.ts";

/** Work counts in `blockedGpus` once it has been blocked for longer than this. Seconds. */
const standingSeconds = 5 * 60;

/**
 * Finds the gangs that would fit into the free GPUs of their pools, but fit on no set of nodes. `since` comes from the previous
 * moment. Pure.
 */
export function findBlocked(
  snapshot: Snapshot,
  freeCapacities: GangFreeCapacities,
  since: ReadonlyMap<string, number>,
  topologyBlocks: TopologyBlocks = findTopologyBlocks(snapshot, freeCapacities, []),
): Blocked {
  const { gangs } = snapshot.queueing;
  if (gangs.length === 0) return nothingBlocked;
  let known: MigGeometry | null = null;
  const geometry = (): MigGeometry => {
    known ??= createMigGeometry(snapshot, freeCapacities.domains);
    return known;
  };
  const judgedAsTheyAre = new Map<AskedPods, Judgement | null>();
  const judgedWithoutTopology = new Map<AskedPods, Judgement | null>();
  const work: BlockedWork[] = [];
  const now = new Map<string, number>();
  for (let index = 0; index < gangs.length; index++) {
    const gang = gangs[index];
    if (gang === undefined) continue;
    const asked = gang.never === null && gang.gpus !== null ? freeCapacities.askedOf(index) : null;
    if (asked === null || asked.placed.length === 0) continue;
    const hasNoTopology = asked.verdict === "fits" && topologyBlocks(index) !== null;
    // Gangs with the same requests are judged once.
    const judged = hasNoTopology ? judgedWithoutTopology : judgedAsTheyAre;
    let judgement = judged.get(asked);
    if (judgement === undefined) {
      judgement = judge(asked, hasNoTopology, freeCapacities.fit, geometry);
      judged.set(asked, judgement);
    }
    if (judgement === null) continue;
    const key = keyOf(gang);
    const first = Math.min(since.get(key) ?? snapshot.at, snapshot.at);
    now.set(key, first);
    const { pools, gpus, freeGpus, blocker } = judgement;
    const isStanding = snapshot.at - first > standingSeconds;
    // Tens of thousands may be blocked: spreading a judgement takes longer than everything else here.
    work.push({ gang: index, key, pools, gpus, freeGpus, blocker, since: first, isStanding });
  }
  return work.length === 0 ? nothingBlocked : { work, since: now };
}

/**
 * The keys of gangs. A key is built once for a gang that stays the same object, because there may be tens of thousands of
 * gangs.
 */
const keys = new WeakMap<WaitingGang, string>();

function keyOf(gang: WaitingGang): string {
  const known = keys.get(gang);
  if (known !== undefined) return known;
  const { kind, namespace, name, uid } = gang;
  const key = `${kind}/${namespace}/${name} ${uid}`;
  keys.set(gang, key);
  return key;
}

/** Why pods are blocked. */
export type Judgement = Pick<BlockedWork, "pools" | "gpus" | "freeGpus" | "blocker">;

/** Returns what blocks pods that must start together; `null` if nothing does: they fit, or too little is free. */
export function judge(
  { placed, verdict }: AskedPods,
  hasNoTopology: boolean,
  fit: GangFit,
  geometryOfMoment: () => MigGeometry,
): Judgement | null {
  const fits = verdict === "fits";
  if (fits && !hasNoTopology) return null;
  const geometry = placed.some(asksForInstances) ? geometryOfMoment() : null;
  const total: PoolTotal | null = fit.enoughInPools(placed, geometry?.unpartitioned);
  if (total === null) return null;
  const gpus = placed.reduce((sum, { pods, gpusPerPod }) => sum + pods * gpusPerPod, 0);
  const blocker = fits ? "topology" : blockerOf(placed, fit, geometry);
  return { pools: total.pools, gpus, freeGpus: total.free, blocker };
}

/** The first thing without which the pods would fit. `geometry` is given if they ask for instances of MIG GPUs. */
function blockerOf(placed: readonly PlacedPods[], fit: GangFit, geometry: MigGeometry | null): Blocker {
  if (geometry?.fitFor(placed).verdict(placed) === "fits") return "mig_geometry";
  for (const { blocker, lifted } of lifts) {
    const without = placed.map((part) => ({ ...part, needs: lifted(part.needs) }));
    if (without.every(({ needs }, i) => needs === placed[i]?.needs)) continue;
    if (fit.verdict(without) === "fits") return blocker;
  }
  return "spread";
}

/** What pods would ask for if one of the things that may block them did not count. */
interface Lift {
  readonly blocker: Blocker;
  readonly lifted: (needs: PodNeeds) => PodNeeds;
}

/** The lifts, in the order of `blockers`. For a pod, a node with unlimited CPU is the same as a pod that asks for none. */
const lifts: readonly Lift[] = [
  { blocker: "cpu", lifted: (needs) => without(needs, "cpu") },
  { blocker: "memory", lifted: (needs) => without(needs, "memory") },
  { blocker: "cpu_and_memory", lifted: (needs) => without(without(needs, "cpu"), "memory") },
  { blocker: "model", lifted: withoutModelLabels },
  { blocker: "selector", lifted: (needs) => ({ ...onlyModelLabels(needs), tolerations: toleratesAll }) },
];

function without(needs: PodNeeds, resource: "cpu" | "memory"): PodNeeds {
  if ((needs.requests[resource] ?? 0) === 0) return needs;
  return { ...needs, requests: { ...needs.requests, [resource]: 0 } };
}
