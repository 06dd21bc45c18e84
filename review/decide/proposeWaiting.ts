import type { Review } from "../document/review.ts";
import type { Demand } from "../document/use.ts";
import type { Proposal } from "./decision.ts";
import { shortDomains, waitingGpuHours } from "./shortDomains.ts";
import { sumInAnyOrder } from "./sumInAnyOrder.ts";

/** The shortest p95 wait that needs a decision, in seconds: half a working day. */
export const longWaitSeconds = 4 * 3600;
const namedWaiters = 3;

/**
 * What could be decided about work that waits: more GPUs where demand is above capacity, other shares where some teams or
 * queues wait long.
 */
export function proposeWaiting(review: Review): readonly Proposal[] {
  return [...shortDomains(review).map((domain) => moreGpus(review, domain)), ...otherShares(review)];
}

function moreGpus({ actions, runway, idleNodes }: Review, demand: Demand): Proposal {
  const { cluster, domain, pools, p95DemandGpus, meanCapacityGpus } = demand;
  const removed = (actions ?? []).some(
    (one) =>
      one.kind === "scale_in" &&
      one.state === "open" &&
      one.cluster === cluster &&
      (pools.includes(one.pool) || one.pool === domain),
  );
  const idle = (runway ?? []).find((one) => one.cluster === cluster && one.domain === domain)?.recoverableGpus ?? null;
  const name = domain === "" ? "all pools" : domain;
  const unused = sumInAnyOrder(
    (idleNodes?.pools ?? [])
      .filter((one) => one.state === "idle_unallocated" && one.cluster === cluster && pools.includes(one.pool))
      .map(({ nodeHours }) => nodeHours),
  );
  return {
    decision: {
      // Buying nodes makes no sense beside the advice to close some: something else keeps the waiting work from them.
      kind: removed ? "shift-quota" : "buy-or-rent",
      cluster,
      title: removed
        ? `Let waiting work use the idle nodes of ${name}`
        : `Buy or rent GPUs for ${name}, or get back what is idle there`,
      evidence: [
        { name: "p95 demand", unit: "GPUs", value: p95DemandGpus },
        { name: "mean capacity", unit: "GPUs", value: meanCapacityGpus },
        { name: "idle, though allocated", unit: "GPUs", value: idle },
        ...(unused > 0 ? [{ name: "idle nodes", unit: "node-h" as const, value: unused }] : []),
      ],
      owner: removed ? "platform" : "who pays",
      ifNothingIsDone: "Work above capacity waits as long again next week.",
      worth: { moneyPerWeek: null, waitingGpuHours: waitingGpuHours(demand), lostGpuHours: null },
      coversLoss: null,
    },
  };
}

interface Waiter {
  readonly name: string;
  readonly p95Seconds: number;
  readonly shortByOthers: number | null;
}

function waitersOf({ teams, waits }: Review): readonly Waiter[] {
  const all: readonly Waiter[] = [
    ...teams.map(({ team, waits: own, shortByOthers }) => ({
      name: team,
      p95Seconds: own?.p95Seconds ?? 0,
      shortByOthers,
    })),
    ...(waits?.byQueue ?? []).map(({ queue, p95Seconds }) => ({
      name: queue ?? "",
      p95Seconds: p95Seconds ?? 0,
      shortByOthers: null,
    })),
  ].filter(({ p95Seconds }) => p95Seconds >= longWaitSeconds);
  // A queue often has the name of its team. The longer wait of the two counts, together with what others have of the team's
  // share.
  return [...Map.groupBy(all, ({ name }) => name)].map(([name, own]) => ({
    name,
    p95Seconds: Math.max(...own.map(({ p95Seconds }) => p95Seconds)),
    shortByOthers: own.find(({ shortByOthers }) => shortByOthers !== null)?.shortByOthers ?? null,
  }));
}

function otherShares(review: Review): readonly Proposal[] {
  const waiters = waitersOf(review).toSorted(
    (one, other) => other.p95Seconds - one.p95Seconds || (one.name < other.name ? -1 : 1),
  );
  const givers = new Set(
    (review.actions ?? [])
      .filter(({ kind }) => kind === "change_quota" || kind === "reclaim")
      .map(({ fromTeam }) => fromTeam),
  );
  const shown = waiters.filter(({ name }) => !givers.has(name)).slice(0, namedWaiters);
  const kept = waiters
    .filter(({ name }) => givers.has(name))
    .map(({ name }) => ({
      undecided: {
        loss: null,
        reason: `${label(name)} waits long, and an open recommendation takes GPUs from it: decide about that one first.`,
      },
    }));
  if (shown.length === 0) return kept;
  const owed = shown.map(({ shortByOthers }) => shortByOthers).filter((amount) => amount !== null);
  const waiting = owed.reduce((sum, amount) => sum + amount, 0);
  return [
    {
      decision: {
        kind: "shift-quota",
        cluster: "",
        title: `${waiting > 0 ? "Give back the share of" : "Decide about a larger share, or the wait, of"} ${shown.map(({ name }) => label(name)).join(", ")}`,
        evidence: shown.flatMap(({ name, p95Seconds, shortByOthers }) => [
          { name: `p95 wait of ${label(name)}`, unit: "s" as const, value: p95Seconds },
          { name: `${label(name)}'s share with others`, unit: "GPU-h" as const, value: shortByOthers },
        ]),
        owner: "platform, with the teams",
        ifNothingIsDone: "The same work waits as long again next week.",
        worth: { moneyPerWeek: null, waitingGpuHours: owed.length === 0 ? null : waiting, lostGpuHours: null },
        coversLoss: null,
      },
    },
    ...kept,
  ];
}

const label = (name: string): string => (name === "" ? "work of no team" : name);
