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
  const evidence: BlockedEvidence = {
    snapshot,
    freeCapacities,
    before: since,
    topologyBlocks,
    geometry,
    judgedAsTheyAre: new Map(),
    judgedWithoutTopology: new Map(),
  };
  const found = { work: [] as BlockedWork[], since: new Map<string, number>() };
  for (let index = 0; index < gangs.length; index++) {
    const gang = gangs[index];
    if (gang !== undefined) addBlocked(gang, index, evidence, found);
  }
  return found.work.length === 0 ? nothingBlocked : found;
}

/** What decides which gangs are blocked. Gangs with the same requests are judged once. */
interface BlockedEvidence {
  readonly snapshot: Snapshot;
  readonly freeCapacities: GangFreeCapacities;
  /** Since when, as the moment before found it. */
  readonly before: ReadonlyMap<string, number>;
  readonly topologyBlocks: TopologyBlocks;
  readonly geometry: () => MigGeometry;
  readonly judgedAsTheyAre: Map<AskedPods, Judgement | null>;
  readonly judgedWithoutTopology: Map<AskedPods, Judgement | null>;
}

/** Adds a gang if it is blocked. */
function addBlocked(
  gang: WaitingGang,
  index: number,
  evidence: BlockedEvidence,
  found: { readonly work: BlockedWork[]; readonly since: Map<string, number> },
): void {
  const { snapshot, freeCapacities, before } = evidence;
  const asked = gang.never === null && gang.gpus !== null ? freeCapacities.askedOf(index) : null;
  const judgement = asked === null || asked.placed.length === 0 ? null : judgementOf(asked, index, evidence);
  if (judgement === null) return;
  const key = keyOf(gang);
  const since = Math.min(before.get(key) ?? snapshot.at, snapshot.at);
  found.since.set(key, since);
  const { pools, gpus, freeGpus, blocker } = judgement;
  const isStanding = snapshot.at - since > standingSeconds;
  // Tens of thousands may be blocked: spreading a judgement takes longer than everything else here.
  found.work.push({ gang: index, key, pools, gpus, freeGpus, blocker, since, isStanding });
}

function judgementOf(asked: AskedPods, gang: number, evidence: BlockedEvidence): Judgement | null {
  const { topologyBlocks, freeCapacities, geometry } = evidence;
  const hasNoTopology = asked.verdict === "fits" && topologyBlocks(gang) !== null;
  const judged = hasNoTopology ? evidence.judgedWithoutTopology : evidence.judgedAsTheyAre;
  const known = judged.get(asked);
  if (known !== undefined) return known;
  const judgement = judge(asked, hasNoTopology, freeCapacities.fit, geometry);
  judged.set(asked, judgement);
  return judgement;
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
