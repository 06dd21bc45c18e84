import type { Costs } from "../document/parts.ts";
import type { Review } from "../document/review.ts";
import type { TeamRow, WaterfallDropRow } from "../document/use.ts";
import type { IdleNodePool } from "../document/waste.ts";
import type { DecisionKind, Evidence, Loss, Proposal } from "./decision.ts";
import { isShort, shortDomains } from "./shortDomains.ts";
import { sumInAnyOrder } from "./sumInAnyOrder.ts";

/** A loss below this part of all GPU time is too small for a director to decide about. */
const leastPart = 0.01;
const secondsPerWeek = 7 * 86_400;
const secondsPerDay = 86_400;
const namedPools = 3;
/** The fewest idle node-hours of a pool in a window for which closing a node is proposed. */
const leastIdleHours = 1;

/** A loss of the waterfall in the form in which decisions name it. */
export const lossOf = ({ state, isAllocated, gpuHours }: WaterfallDropRow): Loss => ({ state, isAllocated, gpuHours });

/** What could be decided about a loss of the waterfall, or why nothing is to be decided. */
export function proposeLoss(review: Review, drop: WaterfallDropRow): Proposal {
  const capacity = review.waterfall.find(({ level }) => level === "capacity")?.gpuHours ?? 0;
  if (drop.gpuHours < leastPart * capacity) return none(drop, "It is less than a hundredth of all GPU time.");
  switch (drop.state) {
    case "idle_node":
      return closeNodes(review, drop);
    case "free":
      return useFree(review, drop);
    case "idle":
      return rightSize(review, drop, "Get back idle GPUs", ({ idle }) => idle);
    case "stalled":
      return rightSize(review, drop, "End or repair stalled work", ({ stalled }) => stalled);
    case "underutilized":
      return rightSize(review, drop, "Right-size underutilized work", ({ underutilized }) => underutilized);
    case "cordoned":
      return fix(review, drop, "Return cordoned nodes to use, or give them back");
    case "unavailable":
      return fix(review, drop, "Repair GPUs that are unavailable");
    case "unobserved":
      return fix(review, drop, "Repair the telemetry of allocated GPUs");
    case "unattributed":
      return fix(review, drop, "Find out who uses GPUs that are allocated to nobody");
    case "starting":
      return fix(review, drop, "Find out why pods start slowly");
    case "gang_wait":
      return fix(review, drop, "Start gangs whole: parts of them hold GPUs and wait");
    case "active":
      return none(drop, "It was used.");
  }
}

const none = (drop: WaterfallDropRow, reason: string): Proposal => ({ undecided: { loss: lossOf(drop), reason } });

function closeNodes(review: Review, drop: WaterfallDropRow): Proposal {
  if (review.idleNodes === null || review.demand === null)
    return none(drop, "Which nodes were idle, or what waited for them, is not known.");
  const short = shortDomains(review);
  const idle = review.idleNodes.pools
    .filter(({ state }) => state === "idle_unallocated")
    .toSorted((one, other) => other.nodeHours - one.nodeHours || (keyOf(one) < keyOf(other) ? -1 : 1));
  const withheld = (review.notAdvised ?? []).filter(({ kind, hours }) => kind === "scale_in" && hours >= 1);
  const reasonOf = ({ cluster, nodePool, nodeHours, reservedNodeHours }: IdleNodePool): string | null =>
    nodeHours - reservedNodeHours < leastIdleHours
      ? "Its nodes are reserved capacity, which is paid for whether they run or not."
      : (withheld.find((one) => one.cluster === cluster && one.subject === (nodePool || "unknown"))?.reason ?? null);
  const open = idle.filter((one) => !isShort(short, one.cluster, one.pool) && reasonOf(one) === null);
  if (open.length === 0) {
    const reason = idle.map(reasonOf).find((text) => text !== null);
    if (idle.length === 0) return none(drop, "Its nodes are kept ready on purpose, or none was idle as a whole.");
    return none(drop, reason ?? "Work waits for the GPUs of its nodes at other hours.");
  }
  const name = ({ nodePool }: IdleNodePool): string => nodePool || "no node pool";
  const names = [...new Set(open.map(name))].slice(0, namedPools);
  const evidence = open.slice(0, namedPools).flatMap((one): readonly Evidence[] => {
    const { nodeHours, reservedNodeHours } = one;
    const idle: Evidence = { name: `idle nodes of ${name(one)}`, unit: "node-h", value: nodeHours - reservedNodeHours };
    if (reservedNodeHours === 0) return [idle];
    return [idle, { name: "and reserved ones, which cost the same closed", unit: "node-h", value: reservedNodeHours }];
  });
  const costs: Record<string, number> = {};
  for (const one of open)
    for (const [currency, cost] of Object.entries(one.costs)) {
      const freed = cost - (one.reservedCosts[currency] ?? 0);
      if (freed > 0) costs[currency] = (costs[currency] ?? 0) + freed;
    }
  return decided(review, drop, "close-nodes", `Close idle nodes of ${names.join(", ")}`, "platform", evidence, costs);
}

const keyOf = ({ cluster, nodePool, pool }: IdleNodePool): string => JSON.stringify([cluster, nodePool, pool]);

function useFree(review: Review, drop: WaterfallDropRow): Proposal {
  if (review.fragmentation === null) return none(drop, "What would have fitted on the free GPUs is not known.");
  const blocked = sumInAnyOrder(review.fragmentation.map(({ blockedGpuHours }) => blockedGpuHours));
  if (blocked <= 0)
    return none(drop, "No work was kept from them, and a node goes away only when nothing is left on it.");
  return decided(review, drop, "fix", "Place work so that free GPUs can be used", "platform", [
    { name: "work that found no node", unit: "GPU-h", value: blocked },
    { name: "free where no typical pod fits", unit: "GPU-h", value: drop.strandedGpuHours },
  ]);
}

function rightSize(
  review: Review,
  drop: WaterfallDropRow,
  title: string,
  of: (team: TeamRow) => number | null,
): Proposal {
  const [most] = review.teams
    .map((row) => ({ team: row.team, gpuHours: of(row) ?? 0 }))
    .filter(({ gpuHours }) => gpuHours > 0)
    .toSorted((one, other) => other.gpuHours - one.gpuHours || (one.team < other.team ? -1 : 1));
  if (most === undefined) return none(drop, "Which team it belongs to is not known.");
  const name = most.team === "" ? "no team" : most.team;
  const owner = most.team === "" ? "platform" : `team ${most.team}`;
  return decided(review, drop, "right-size", `${title}, of ${name} first`, owner, [
    { name: "in all", unit: "GPU-h", value: drop.gpuHours },
    { name: `of ${name}`, unit: "GPU-h", value: most.gpuHours },
  ]);
}

const fix = (review: Review, drop: WaterfallDropRow, title: string): Proposal =>
  decided(review, drop, "fix", title, drop.owner, [{ name: "in all", unit: "GPU-h", value: drop.gpuHours }]);

function decided(
  review: Review,
  drop: WaterfallDropRow,
  kind: DecisionKind,
  title: string,
  owner: string,
  evidence: readonly Evidence[],
  costs: Costs = drop.costs,
): Proposal {
  return {
    decision: {
      kind,
      cluster: "",
      title,
      evidence,
      owner,
      ifNothingIsDone: "As much is lost again next week.",
      worth: { moneyPerWeek: perWeek(review, costs), waitingGpuHours: null, lostGpuHours: drop.gpuHours },
      coversLoss: lossOf(drop),
    },
  };
}

/**
 * Converts money of the window to money per week; `null` without money, or if less than a day is covered, which says too little
 * about a week.
 */
function perWeek({ coverage, clusters }: Review, costs: Costs): Costs | null {
  const seconds = coverage.coveredSeconds / clusters.length;
  if (!(seconds >= secondsPerDay) || Object.keys(costs).length === 0) return null;
  const weekly = Object.entries(costs).map(
    ([currency, cost]) => [currency, (cost * secondsPerWeek) / seconds] as const,
  );
  return Object.fromEntries(weekly.toSorted(([one], [other]) => (one < other ? -1 : 1)));
}
