import type { NodePoolView, NodeView } from "../../join/snapshot.ts";
import { nameWords } from "../../kernel/nameWords.ts";
import type { Steps } from "../../kernel/steps.ts";
import type { AdviceConfidence, AdviceStep } from "../../model/recommendation.ts";
import { type Candidate, candidatesPerKind, type FindAdvice } from "../candidate.ts";
import type { AdviceMoment } from "../moment.ts";
import { removeNode } from "../steps/steps.ts";
import { withheldList } from "./ownGpus.ts";
import { isWaitingUnknown, waitsForNodes } from "./waitsForNodes.ts";
import { moneyWords, weeklyMoney } from "./weeklyMoney.ts";
import { byText, countWords, durationWords, gpuWords } from "./words.ts";

/** A node that nobody uses. */
interface LongIdle {
  readonly index: number;
  readonly node: NodeView;
  readonly since: number;
}

/** The idle nodes of one node pool, idle longest first. */
interface IdlePool {
  readonly pool: NodePoolView;
  readonly nodes: readonly LongIdle[];
}

/**
 * Nodes that have held no GPU for longer than `advice.idleNodeMinutes`, in node pools whose autoscaler or cloud can take them
 * away, for as long as nothing waits that could use them. The node pools with the most idle GPUs first.
 */
export const findScaleIn: FindAdvice = function* (moment) {
  const withheld = withheldList("scale_in");
  const candidates: Candidate[] = [];
  for (const idle of idlePools(moment)) {
    if (candidates.length >= candidatesPerKind) break;
    yield;
    const made = yield* candidateOf(moment, idle);
    if (typeof made === "string") withheld.add("no-plan", idle.pool.name, made);
    else candidates.push(made);
  }
  return { candidates, withheld: withheld.list };
};

function idlePools({ analysis: { snapshot, idleNodes }, settings }: AdviceMoment): readonly IdlePool[] {
  const byPool = new Map<string, LongIdle[]>();
  for (const { node: index, kind, isWarmPool, since } of idleNodes.nodes) {
    const node = snapshot.nodes[index];
    if (node === undefined || kind !== "unallocated" || isWarmPool || node.physicalGpus === null) continue;
    if (snapshot.at - since < settings.idleNodeMinutes * 60) continue;
    const name = node.nodePool || "unknown";
    const known = byPool.get(name);
    if (known === undefined) byPool.set(name, [{ index, node, since }]);
    else known.push({ index, node, since });
  }
  const found = snapshot.nodePools.flatMap((pool): IdlePool[] => {
    const nodes = byPool.get(pool.name);
    return nodes === undefined
      ? []
      : [{ pool, nodes: nodes.sort((a, b) => a.since - b.since || byText(a.node.name, b.node.name)) }];
  });
  return found.sort((a, b) => gpusOf(b.nodes) - gpusOf(a.nodes) || byText(a.pool.name, b.pool.name));
}

const gpusOf = (nodes: readonly LongIdle[]): number =>
  nodes.reduce((sum, { node }) => sum + (node.physicalGpus ?? 0), 0);

/** The candidate of one node pool, or why there is none. */
function* candidateOf(moment: AdviceMoment, { pool, nodes }: IdlePool): Steps<Candidate | string> {
  const { snapshot } = moment.analysis;
  const idle = `${countWords(nodes.length, "idle node")} (${gpuWords(gpusOf(nodes))} GPUs)`;
  const fixed = fixedBecause(pool);
  if (fixed !== null) return `${idle}: ${fixed}`;
  const paid = nodes.filter(({ node }) => node.capacityType !== "reserved");
  if (paid.length === 0) return `${idle}: they are reserved capacity, which costs the same when it is given back`;
  const most = Math.min(moment.settings.maxMoves, pool.nodes - (pool.minNodes ?? 0));
  if (most <= 0) return `${idle}: it has ${countWords(pool.nodes, "node")} and keeps at least ${pool.minNodes}`;
  const chosen: LongIdle[] = [];
  const steps: AdviceStep[] = [];
  let refusal = "";
  for (const one of paid) {
    if (chosen.length >= most) break;
    if (one.node.keptBy !== undefined) {
      refusal ||= `annotation ${one.node.keptBy} of ${one.node.name} asks that it stay`;
      continue;
    }
    const removal = removeNode(moment, one.index);
    if (removal.ok) {
      chosen.push(one);
      steps.push(...removal.steps);
    } else refusal ||= removal.reason;
  }
  if (chosen.length === 0) return `${idle}: ${refusal}`;
  if (isWaitingUnknown(snapshot)) return `${idle}: queues cannot be read, so that nobody knows what waits for them`;
  const waits = yield* waitsForNodes(
    moment.analysis,
    chosen.map(({ node }) => node),
  );
  if (waits !== null) return `${idle}: ${waits} waits and could use them`;
  const alternatives = nodes.length === paid.length ? [] : ["idle nodes of reserved capacity cost the same either way"];
  return candidate(moment, pool, chosen, steps, alternatives, snapshot.at);
}

/** Why nobody can make the node pool smaller; `null` where somebody can. */
function fixedBecause({ manager, minNodes, name }: NodePoolView): string | null {
  if (manager === "none") return "no autoscaler or cloud is known that could take nodes away";
  // Karpenter itself knows no smallest size but that of a NodePool with replicas.
  if (manager === "karpenter" && minNodes !== null)
    return `NodePool ${name} keeps exactly ${countWords(minNodes, "node")} (spec.replicas): lower that number instead`;
  return null;
}

function candidate(
  { analysis }: AdviceMoment,
  pool: NodePoolView,
  chosen: readonly LongIdle[],
  steps: readonly AdviceStep[],
  blockedAlternatives: readonly string[],
  at: number,
): Candidate {
  const { snapshot, prices } = analysis;
  const names = chosen.map(({ node }) => node.name);
  const gpus = gpusOf(chosen);
  const saving = weeklyMoney(prices, new Map(chosen.map(({ node }) => [node.name, node.physicalGpus ?? 0])));
  const idleFor = durationWords(at - (chosen.at(-1)?.since ?? at));
  const pods = otherPods(snapshot.requestsByNode, names);
  const gpuPools = [...new Set(chosen.flatMap(({ node }) => node.pools))];
  const gpuPool = gpuPools.length === 1 ? (gpuPools[0] ?? "") : "";
  const cost = saving.length === 0 ? "" : ` They cost ${moneyWords(saving)}.`;
  return {
    kind: "scale_in",
    beneficiary: { kind: "pool", name: pool.name },
    targets: names.map((name) => `Node ${name}`),
    title: `take ${countWords(chosen.length, "idle node")} with ${gpuWords(gpus)} ${gpuPool || "GPUs"} out of node pool ${pool.name}: ${nameWords(names)}`,
    reason: `No pod has held a GPU of ${names.length === 1 ? "node" : "nodes"} ${nameWords(names)} for at least ${idleFor}, and nothing waits that could use them.${cost}${keptWords(pool, pods)}`,
    evidence: [
      { name: "idle for at least", value: idleFor },
      { name: "nodes of the node pool", value: `${pool.nodes}` },
      { name: "smallest size", value: pool.minNodes === null ? "unknown" : countWords(pool.minNodes, "node") },
      { name: "pods without GPUs on them, DaemonSets' counted in", value: pods === null ? "unknown" : `${pods}` },
      { name: "managed by", value: pool.manager },
    ],
    ...{ fromTeam: "", forTeam: "", queue: "", pool: gpuPool },
    plan: { changes: chosen.map(({ index }) => ({ kind: "removeNode", node: index })), starts: [] },
    steps,
    disrupted: [],
    gainedGpus: () => gpus,
    savingPerWeek: saving,
    confidence: confidenceOf(pool, pods),
    guards: [
      "warm-pool",
      "do-not-disrupt",
      "waiting-work",
      "smallest-size",
      "reserved-capacity",
      "unattributed-activity",
    ],
    blockedAlternatives,
    signs: [{ kind: "nodes-left", nodes: names }],
    measuredBy: {
      kind: "nodes-removed",
      nodes: chosen.map(({ node }) => ({ name: node.name, gpus: node.physicalGpus ?? 0 })),
    },
  };
}

/** Pods on nodes where none holds a GPU; `null` where they are not known. */
function otherPods(
  requests: AdviceMoment["analysis"]["snapshot"]["requestsByNode"],
  names: readonly string[],
): number | null {
  return requests === null ? null : names.reduce((sum, name) => sum + (requests.get(name)?.pods ?? 0), 0);
}

/** Why its autoscaler has not taken the nodes itself. */
function keptWords(
  { manager, consolidationPolicy, consolidateAfterSeconds }: NodePoolView,
  pods: number | null,
): string {
  if (pods === null || pods === 0) return "";
  const drained = ` ${countWords(pods, "pod")} without GPUs, those of DaemonSets counted in, would be drained or end with them.`;
  if (manager !== "karpenter" || consolidationPolicy === null || consolidateAfterSeconds === null) return drained;
  return `${drained} Karpenter takes a node away ${durationWords(consolidateAfterSeconds)} after it is empty (${consolidationPolicy}): pods without GPUs that can run nowhere cheaper keep it.`;
}

function confidenceOf({ manager, minNodes }: NodePoolView, pods: number | null): AdviceConfidence {
  const reasons = ["no pod holds a GPU of them, and no activity was seen on them that nobody holds"];
  if (pods === null)
    reasons.push("which pods without GPUs run on them is not known: the dry run of the drain names them");
  else if (pods > 0)
    reasons.push(
      "disruption budgets of pods without GPUs are not looked at: the dry run of the drain and the Eviction API ask them",
    );
  const isSizeUnknown = manager !== "karpenter" && minNodes === null;
  if (isSizeUnknown) reasons.push(`the smallest size that the ${manager} keeps is not known: it may put a node back`);
  return { level: pods === null ? "low" : pods > 0 || isSizeUnknown ? "medium" : "high", reasons };
}
