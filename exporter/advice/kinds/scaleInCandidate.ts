import type { NodePoolView, NodeView } from "../../join/snapshot.ts";
import { nameWords } from "../../kernel/nameWords.ts";
import type { AdviceConfidence, AdviceStep } from "../../model/recommendation.ts";
import type { Candidate } from "../candidate.ts";
import type { EmptyNodes } from "../emptyNodes.ts";
import type { AdviceMoment } from "../moment.ts";
import { costWords, countWords, durationWords, gpuWords, hourlyCostWords } from "./words.ts";

/** A node on which nothing has been allocated for long. */
export interface LongIdle {
  readonly index: number;
  readonly node: NodeView;
  readonly since: number;
}

/** Nodes to remove, and how this is done. */
export interface NodesToGo {
  readonly chosen: readonly LongIdle[];
  readonly steps: readonly AdviceStep[];
}

/** Physical GPUs of nodes. */
export const gpusOf = (nodes: readonly LongIdle[]): number =>
  nodes.reduce((sum, { node }) => sum + (node.physicalGpus ?? 0), 0);

/** Makes the advice to remove idle nodes of a node pool, one by one or by a change of its setting. */
export function scaleInCandidate(
  { analysis, settings }: AdviceMoment,
  pool: NodePoolView,
  empty: EmptyNodes,
  { chosen, steps }: NodesToGo,
  blockedAlternatives: readonly string[],
): Candidate {
  const { snapshot, prices } = analysis;
  const names = chosen.map(({ node }) => node.name);
  const gpus = gpusOf(chosen);
  const byNode = new Map(chosen.map(({ node }) => [node.name, node.physicalGpus ?? 0]));
  const price = hourlyCostWords(prices, byNode);
  const idleSeconds = snapshot.at - Math.max(...chosen.map(({ since }) => since));
  const idleFor = durationWords(idleSeconds);
  const pods = otherPods(snapshot.requestsByNode, names);
  const gpuPools = [...new Set(chosen.flatMap(({ node }) => node.pools))];
  const gpuPool = gpuPools.length === 1 ? (gpuPools[0] ?? "") : "";
  const nodesWords = `${countWords(chosen.length, "idle node")} with ${gpuWords(gpus)} ${gpuPool || "GPUs"}`;
  const soFar = costWords(prices, byNode, idleSeconds / 3600);
  const cost =
    price === ""
      ? ""
      : ` They cost ${price}: ${soFar === "" ? "" : `${soFar} while they were idle so far, `}${costWords(prices, byNode, 168)} in a week.`;
  const isSetting = empty.kind === "kept";
  return {
    kind: "scale_in",
    beneficiary: { kind: "pool", name: pool.name },
    targets: isSetting ? [`NodePool ${pool.name}`] : names.map((name) => `Node ${name}`),
    title: isSetting
      ? `let Karpenter remove empty nodes of NodePool ${pool.name}: it has ${nodesWords}`
      : `take ${nodesWords} out of node pool ${pool.name}: ${nameWords(names)}`,
    reason: `No pod has had a GPU of ${names.length === 1 ? "node" : "nodes"} ${nameWords(names)} for at least ${idleFor}, and nothing waits that could use them.${cost}${keptWords(empty, pods, settings.idleNodeMinutes)} ${capacityWords(chosen, gpuPool)}`,
    evidence: [
      { name: "idle for at least", value: idleFor },
      { name: "nodes of the node pool", value: `${pool.nodes}` },
      { name: "smallest size", value: pool.minNodes === null ? "unknown" : countWords(pool.minNodes, "node") },
      { name: "pods without GPUs on them, DaemonSets' counted in", value: pods === null ? "unknown" : `${pods}` },
      { name: "managed by", value: pool.manager },
      { name: "capacity type", value: typesOf(chosen) },
    ],
    fromTeam: "",
    forTeam: "",
    queue: "",
    pool: gpuPool,
    plan: { changes: chosen.map(({ index }) => ({ kind: "removeNode", node: index })), starts: [] },
    steps,
    disrupted: [],
    gainedGpus: () => gpus,
    unused: chosen.map(({ node, since }) => ({ node: node.name, gpus: node.physicalGpus ?? 0, since })),
    confidence: confidenceOf(pool, isSetting, pods),
    guards: [
      "warm-pool",
      "do-not-disrupt",
      "waiting-work",
      "smallest-size",
      "reserved-capacity",
      "autoscaler",
      "unattributed-activity",
    ],
    blockedAlternatives: isSetting
      ? [...blockedAlternatives, "a node that is deleted by hand is followed by the next idle one: the setting stays"]
      : blockedAlternatives,
    signs: [isSetting ? { kind: "node-pool-changed", nodePool: pool.name } : { kind: "nodes-left", nodes: names }],
    measuredBy: {
      kind: "nodes-removed",
      nodes: chosen.map(({ node }) => ({ name: node.name, gpus: node.physicalGpus ?? 0 })),
    },
  };
}

/** The number of pods on nodes where no pod holds a GPU; `null` if it is not known. */
function otherPods(
  requests: AdviceMoment["analysis"]["snapshot"]["requestsByNode"],
  names: readonly string[],
): number | null {
  return requests === null ? null : names.reduce((sum, name) => sum + (requests.get(name)?.pods ?? 0), 0);
}

/** Why its autoscaler has not removed the nodes itself. */
function keptWords(empty: EmptyNodes, pods: number | null, afterMinutes: number): string {
  if (empty.kind === "kept")
    return empty.by === "never"
      ? ` ${empty.words}: Karpenter keeps every empty node. After the change it removes a node that has been empty for ${durationWords(afterMinutes * 60)}, and touches no other.`
      : ` ${empty.words}: Karpenter keeps every empty node. After the change it removes empty nodes, and the budget goes on holding for all others.`;
  if (pods === null || pods === 0) return "";
  const drained = ` ${countWords(pods, "pod")} without GPUs, those of DaemonSets counted in, would be drained or end with them.`;
  if (empty.kind !== "removed") return drained;
  return `${drained} ${empty.words.charAt(0).toUpperCase()}${empty.words.slice(1)}: pods without GPUs that can run nowhere cheaper keep it.`;
}

function typesOf(chosen: readonly LongIdle[]): string {
  return [...new Set(chosen.map(({ node }) => node.capacityType ?? "unknown"))].sort().join(", ");
}

/** Capacity that is given back may not be available again: neither spot nor on-demand capacity is guaranteed. */
function capacityWords(chosen: readonly LongIdle[], gpuPool: string): string {
  const types = new Set(chosen.map(({ node }) => node.capacityType));
  const what = types.size === 1 && types.has("spot") ? "spot capacity" : "capacity that is not reserved";
  return `Their ${what} may not come back when it is needed again: ${gpuPool || "such GPUs"} can be sold out for hours or days.`;
}

function confidenceOf({ manager, minNodes }: NodePoolView, isSetting: boolean, pods: number | null): AdviceConfidence {
  const reasons = [
    "no pod holds a GPU of them, and no activity was seen on them that nobody holds",
    "whether this capacity can be had again when work comes is not known",
  ];
  if (pods === null)
    reasons.push("which pods without GPUs run on them is not known: the dry run of the drain names them");
  else if (pods > 0 && !isSetting)
    reasons.push(
      "disruption budgets of pods without GPUs are not looked at: the dry run of the drain and the Eviction API ask them",
    );
  else if (pods > 0) reasons.push("nodes on which pods other than DaemonSets' run are not empty, and stay");
  const isSizeUnknown = manager !== "karpenter" && minNodes === null;
  if (isSizeUnknown) reasons.push(`the smallest size that the ${manager} keeps is not known: it may put a node back`);
  return { level: pods === null ? "low" : "medium", reasons };
}
