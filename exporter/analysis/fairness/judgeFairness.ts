import type { Queueing, QuotaDomain } from "../../join/queues/queueing.ts";
import { inOneStep, type Steps } from "../../kernel/steps.ts";
import { actionableShortfall } from "./actionable.ts";
import type { DomainFairness, Fairness, QueueFairness, UsageHistory } from "./fairness.ts";
import { type DomainForest, entitleForest, forestsOf } from "./forest.ts";
import { pairUp } from "./pairs.ts";
import { createTeamSums, type TeamSums } from "./teams.ts";
import { gpuTolerance } from "./waterFill.ts";

const queuesPerStep = 200;

/** What everyone is entitled to, and how far from it they are. Pure. `history`: of a scheduler with time-based fairshare. */
export function judgeFairness(queueing: Queueing, history: UsageHistory | null): Fairness {
  return inOneStep(judgeFairnessInSteps(queueing, history));
}

/** `judgeFairness` with pauses. */
export function* judgeFairnessInSteps(queueing: Queueing, history: UsageHistory | null): Steps<Fairness> {
  const queues: (QueueFairness | null)[] = Array(queueing.queues.length).fill(null);
  const domains: (DomainFairness | null)[] = [];
  const teams = createTeamSums();
  const forests = forestsOf(queueing, history);
  for (const [index, domain] of queueing.domains.entries()) {
    const forest = forests[index];
    if (forest === undefined || domain.unknownBecause !== null) {
      domains.push(null);
      continue;
    }
    yield;
    domains.push(yield* judgeDomain({ queueing, domain, forest, history, queues, teams }));
  }
  yield;
  return { queues, domains, teams: teams.totals() };
}

interface DomainTask {
  readonly queueing: Queueing;
  readonly domain: QuotaDomain;
  readonly forest: DomainForest;
  readonly history: UsageHistory | null;
  /** Where the answers go. */
  readonly queues: (QueueFairness | null)[];
  readonly teams: TeamSums;
}

function* judgeDomain(task: DomainTask): Steps<DomainFairness> {
  const { queueing, domain, forest, history, queues, teams } = task;
  const grants = entitleForest(forest, domain.capacity, history);
  yield;
  const leaves: Leaf[] = [];
  const add = (index: number, entitled: number): void => {
    const queue = queueing.queues[index];
    if (queue === undefined) return;
    const { shortfall, excess } = distance(queue.held, entitled);
    leaves.push({ held: queue.held, pending: queue.pending, entitled, shortfall, excess });
    teams.addLeaf(queue, entitled);
  };
  for (const { index, queue } of forest.unqueued) add(index, queue.held);
  forest.placed.forEach(({ index, queue }, i) => {
    if (queue.children.length === 0) add(index, grants[i] ?? 0);
  });
  yield;

  const totals = totalOf(leaves);
  const causedByOthers = totals.idleGap <= 0 ? 1 : totals.excess / totals.shortfall;
  for (const { index, queue } of forest.unqueued) {
    queues[index] = judged(queue.held + queue.pending, queue.held, queue.held, causedByOthers, 0);
  }
  const actionable = new Float64Array(forest.placed.length);
  for (let i = forest.placed.length - 1; i >= 0; i--) {
    if (i % queuesPerStep === queuesPerStep - 1) yield;
    const place = forest.placed[i];
    if (place === undefined) continue;
    const { index, queue } = place;
    const entitled = grants[i] ?? 0;
    const { shortfall } = distance(queue.held, entitled);
    const isLeaf = queue.children.length === 0;
    const fits = isLeaf
      ? actionableShortfall(queueing, index, queue, shortfall)
      : Math.min(shortfall, actionable[i] ?? 0);
    actionable[i] = fits;
    const parent = forest.nodes[i]?.parent ?? null;
    if (parent !== null) actionable[parent] = (actionable[parent] ?? 0) + fits;
    queues[index] = judged(queue.held + queue.pending, queue.held, entitled, causedByOthers, fits);
  }
  yield;
  return { ...totals, ...ratiosOf(leaves, totals), pairs: pairsOf(forest, grants) };
}

interface Leaf {
  readonly held: number;
  readonly pending: number;
  readonly entitled: number;
  readonly shortfall: number;
  readonly excess: number;
}

/** Distances within the tolerance are none. */
function distance(held: number, entitled: number): { readonly shortfall: number; readonly excess: number } {
  const deviation = held - entitled;
  return {
    shortfall: deviation < -gpuTolerance ? -deviation : 0,
    excess: deviation > gpuTolerance ? deviation : 0,
  };
}

function judged(
  demand: number,
  held: number,
  entitled: number,
  causedByOthers: number,
  actionableShortfall: number,
): QueueFairness {
  const { shortfall, excess } = distance(held, entitled);
  const shortfallByOthers = shortfall * causedByOthers;
  return {
    demand,
    entitled,
    deviation: excess - shortfall,
    shortfall,
    excess,
    shortfallByOthers,
    shortfallByIdleGap: shortfall - shortfallByOthers,
    actionableShortfall,
  };
}

type Totals = Pick<DomainFairness, "held" | "pending" | "entitled" | "excess" | "shortfall" | "idleGap">;

function totalOf(leaves: readonly Leaf[]): Totals {
  let [held, pending, entitled, excess, shortfall] = [0, 0, 0, 0, 0];
  for (const leaf of leaves) {
    held += leaf.held;
    pending += leaf.pending;
    entitled += leaf.entitled;
    excess += leaf.excess;
    shortfall += leaf.shortfall;
  }
  const gap = shortfall - excess;
  return { held, pending, entitled, excess, shortfall, idleGap: Math.abs(gap) <= gpuTolerance ? 0 : gap };
}

/** Jain's index of x = held / entitled: (sum x)^2 / (n * sum x^2); 1 where nobody holds anything yet. */
function ratiosOf(
  leaves: readonly Leaf[],
  { excess, entitled }: Totals,
): Pick<DomainFairness, "misallocatedRatio" | "jainIndex"> {
  let [n, sum, squares] = [0, 0, 0];
  for (const leaf of leaves) {
    if (leaf.entitled <= gpuTolerance) continue;
    const x = leaf.held / leaf.entitled;
    n++;
    sum += x;
    squares += x * x;
  }
  return {
    misallocatedRatio: entitled > gpuTolerance ? Math.min(1, excess / entitled) : 0,
    jainIndex: n === 0 ? null : squares > 0 ? (sum * sum) / (n * squares) : 1,
  };
}

function pairsOf(forest: DomainForest, grants: Float64Array): DomainFairness["pairs"] {
  return pairUp(
    forest.placed.map(({ index, queue }, i) => {
      const isLeaf = queue.children.length === 0;
      const { shortfall, excess } = distance(queue.held, grants[i] ?? 0);
      return {
        queue: index,
        name: `${queue.scheduler}/${queue.kind}/${queue.name}`,
        parent: forest.nodes[i]?.parent ?? null,
        shortfall: isLeaf ? shortfall : 0,
        // What is held where nobody can be placed helps nobody.
        excess: isLeaf ? excess - Math.min(excess, queue.heldOnUnschedulable) : 0,
      };
    }),
  );
}
