import type { NodePoolView } from "../../join/snapshot.ts";
import { compareText } from "../../kernel/compareText.ts";
import type { AdviceStep } from "../../model/recommendation.ts";
import {
  type Candidate,
  candidatesPerKind,
  type FindAdvice,
  foundOf,
  isCandidate,
  type MadeCandidate,
  withheldPerKind,
  withhold,
} from "../candidate.ts";
import { type EmptyNodes, emptyNodesOf } from "../emptyNodes.ts";
import type { AdviceMoment } from "../moment.ts";
import { momentOrder } from "../momentOrder.ts";
import { removeEmptyNodes, removeNode } from "../steps/nodeSteps.ts";
import { gpusOf, type LongIdle, type NodesToGo, scaleInCandidate } from "./scaleInCandidate.ts";
import { isWaitingUnknown, waitsForNodes } from "./waitsForNodes.ts";
import { countWords, durationWords, gpuWords } from "./words.ts";

/** The idle nodes of one node pool; those that have been idle longest come first. */
interface IdlePool {
  readonly pool: NodePoolView;
  readonly nodes: readonly LongIdle[];
}

/**
 * Finds nodes on which no GPU has been allocated for longer than `advice.idleNodeMinutes`, in node pools whose autoscaler or
 * cloud can remove them and does not do so by itself within the hour, as long as nothing waits that could use them. If a
 * setting of the node pool keeps them, the advice is to change that setting. The node pools with the most idle GPUs come first.
 */
export const findScaleIn: FindAdvice = (moment) => {
  const found: MadeCandidate[] = [];
  for (const idle of idlePools(moment)) {
    if (found.filter(isCandidate).length >= candidatesPerKind) break;
    const made = candidateOf(moment, idle);
    found.push(typeof made === "string" ? withhold("scale_in")(idle.pool.name, "no-plan", made) : made);
  }
  return foundOf(found, withheldPerKind);
};

function idlePools({ analysis, settings }: AdviceMoment): readonly IdlePool[] {
  const { snapshot, idleNodes } = analysis;
  const byPool = new Map<string, LongIdle[]>();
  const byNode = momentOrder(analysis).nodes;
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
      : [{ pool, nodes: nodes.sort((a, b) => a.since - b.since || byNode(a.index, b.index)) }];
  });
  return found.sort((a, b) => gpusOf(b.nodes) - gpusOf(a.nodes) || compareText(a.pool.name, b.pool.name));
}

/** The candidate of one node pool, or the reason why there is none. */
function candidateOf(moment: AdviceMoment, { pool, nodes }: IdlePool): Candidate | string {
  const { snapshot } = moment.analysis;
  const idle = `${countWords(nodes.length, "idle node")} (${gpuWords(gpusOf(nodes))} GPUs)`;
  const fixed = fixedBecause(pool);
  if (fixed !== null) return `${idle}: ${fixed}`;
  const paid = nodes.filter(({ node }) => node.capacityType !== "reserved");
  if (paid.length === 0) return `${idle}: they are reserved capacity, which costs the same when it is given back`;
  const most = Math.min(moment.settings.maxMoves, pool.nodes - (pool.minNodes ?? 0));
  if (most <= 0) return `${idle}: it has ${countWords(pool.nodes, "node")} and keeps at least ${pool.minNodes}`;
  const empty = emptyNodesOf(pool);
  if (empty.kind === "at-times") return `${idle}: ${empty.words}: Karpenter removes them outside its hours`;
  const change =
    empty.kind === "kept" ? settingChange(moment, pool, paid, empty) : nodeByNode(moment, paid, empty, most);
  if (typeof change === "string") return `${idle}: ${change}`;
  if (isWaitingUnknown(snapshot)) return `${idle}: queues cannot be read, so that nobody knows what waits for them`;
  const waits = waitsForNodes(
    moment.analysis,
    change.chosen.map(({ node }) => node),
  );
  if (waits !== null) return `${idle}: ${waits} waits and could use them`;
  const alternatives = nodes.length === paid.length ? [] : ["idle nodes of reserved capacity cost the same either way"];
  return scaleInCandidate(moment, pool, empty, change, alternatives);
}

/**
 * The change of the setting of the NodePool that keeps empty nodes. If a node were deleted by hand, the next one would stay as
 * well.
 */
function settingChange(
  { settings }: AdviceMoment,
  pool: NodePoolView,
  paid: readonly LongIdle[],
  { by, words }: Extract<EmptyNodes, { kind: "kept" }>,
): NodesToGo | string {
  const chosen = paid.filter(({ node }) => node.keptBy === undefined);
  if (chosen.length === 0) return keptWords(paid);
  const changed = removeEmptyNodes(pool, by, settings.idleNodeMinutes);
  return changed.ok ? { chosen, steps: changed.steps } : `${words}: ${changed.reason}`;
}

const keptWords = ([first]: readonly LongIdle[]): string =>
  `annotation ${first?.node.keptBy} of ${first?.node.name} asks that it stay`;

/** The nodes that no autoscaler is about to remove; those that have been idle longest come first. */
function nodeByNode(
  moment: AdviceMoment,
  paid: readonly LongIdle[],
  empty: EmptyNodes,
  most: number,
): NodesToGo | string {
  const chosen: LongIdle[] = [];
  const steps: AdviceStep[] = [];
  let refusal = "";
  for (const one of paid) {
    if (chosen.length >= most) break;
    if (one.node.keptBy !== undefined) {
      refusal ||= keptWords([one]);
      continue;
    }
    const byItself = goesByItself(moment, one, empty);
    if (byItself !== null) {
      refusal ||= byItself;
      continue;
    }
    const removal = removeNode(moment, one.index);
    if (removal.ok) {
      chosen.push(one);
      steps.push(...removal.steps);
    } else refusal ||= removal.reason;
  }
  return chosen.length === 0 ? refusal : { chosen, steps };
}

const hourSeconds = 3600;

/**
 * Why nobody has to act on a node: its autoscaler removes it within the hour, or should have done so within the last one. If
 * it is long overdue, pods without GPUs keep it; if it has no pods at all, the reason is unknown.
 */
function goesByItself(
  { analysis: { snapshot } }: AdviceMoment,
  { node, since }: LongIdle,
  empty: EmptyNodes,
): string | null {
  if (empty.kind !== "removed") return null;
  const late = snapshot.at - (since + empty.afterSeconds);
  if (late < -hourSeconds) return null;
  if (late <= hourSeconds) return `${empty.words}, ${node.name} within the hour`;
  const pods = snapshot.requestsByNode === null ? null : (snapshot.requestsByNode.get(node.name)?.pods ?? 0);
  if (pods !== 0) return null;
  return `${empty.words}, and no pod runs on ${node.name}, which is ${durationWords(late)} late: look at the autoscaler's log and events`;
}

/** Why nobody can make the node pool smaller; `null` if someone can. */
function fixedBecause({ manager, minNodes, name }: NodePoolView): string | null {
  if (manager === "none") return "no autoscaler or cloud is known that could take nodes away";
  // Karpenter itself knows no smallest size of a NodePool, except for one with replicas.
  if (manager === "karpenter" && minNodes !== null)
    return `NodePool ${name} keeps exactly ${countWords(minNodes, "node")} (spec.replicas): lower that number instead`;
  return null;
}
