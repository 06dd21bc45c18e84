import type { Queueing } from "../../join/queues/queueing.ts";
import { compareText } from "../../kernel/compareText.ts";
import { gpuTolerance } from "../../model/gpuTolerance.ts";
import type { AbsentOwner } from "../../model/shortfall.ts";
import { absentOwners } from "./absentCapacity.ts";
import { createGangSteps, type GangSteps } from "./actionable.ts";
import { blameIn } from "./blame.ts";
import type { Placed } from "./claims.ts";
import { entitle } from "./entitle.ts";
import type {
  DomainFairness,
  Fairness,
  NodeClassShare,
  QueueFairness,
  StarvedBorrower,
  UsageHistory,
} from "./fairness.ts";
import type { Pair } from "./pairs.ts";
import { type Shortfall, shortfallsOf, type UnitShortfalls } from "./shortfall.ts";
import { createTeamSums, type TeamSums } from "./teams.ts";
import { demandsOf } from "./unitDemand.ts";
import { placeKey } from "./unitNetwork.ts";
import { eachUnit, type SharedUnit } from "./units.ts";

/** What everyone is entitled to, and how far from it they are. Pure. `history`: of a scheduler with time-based fairshare. */
export function judgeFairness(queueing: Queueing, history: UsageHistory | null): Fairness {
  const queues: (QueueFairness | null)[] = Array(queueing.queues.length).fill(null);
  const domains: (DomainFairness | null)[] = Array(queueing.domains.length).fill(null);
  const teams = createTeamSums();
  const gangSteps = createGangSteps(queueing);
  for (const unit of eachUnit(queueing, history)) {
    judgeUnit({ queueing, unit, gangSteps, kValue: history?.kValue ?? 0, queues, domains, teams });
  }
  return { queues, domains, teams: teams.totals() };
}

interface UnitTask {
  readonly queueing: Queueing;
  readonly unit: SharedUnit;
  readonly gangSteps: GangSteps;
  readonly kValue: number;
  /** Where the answers go. */
  readonly queues: (QueueFairness | null)[];
  readonly domains: (DomainFairness | null)[];
  readonly teams: TeamSums;
}

const noShortfall: Shortfall = { gpus: 0, idleGap: 0, borrowers: 0, absent: 0, indivisible: 0 };

function judgeUnit({ queueing, unit, gangSteps, kValue, queues, domains, teams }: UnitTask): void {
  const entitlement = entitle(unit, { kValue });
  const found = shortfallsOf(unit, entitlement);
  const { pairs, actionable, heldBack } = blameIn(unit, queueing, found, gangSteps);
  const because = new Map(heldBack.map((pair) => [pair.starved, pair.because] as const));
  const owners = absentOwners(unit, queueing, found.shortfalls);
  const demands = demandsOf(unit, found.entitled);
  const classShares = sharesByClass(unit, queueing, found);
  const judged = unit.nodes.map(nothingSummed);
  for (let i = unit.nodes.length - 1; i >= 0; i--) {
    const [sum, place] = [judged[i], unit.nodes[i]];
    if (sum === undefined || place === undefined) continue;
    if (place.queue.children.length === 0) addLeaf(sum, i, { found, actionable, owners, unit });
    const above = judged[unit.nodes[i]?.parent ?? -1];
    if (above !== undefined) addUp(above, sum);
    const entitled = found.entitled[i] ?? 0;
    queues[place.index] = queueFairness(
      place,
      { demand: demands[i] ?? 0, entitled },
      sum,
      classShares.get(i) ?? null,
      because.get(i) ?? null,
    );
    if (place.queue.children.length === 0) teams.addLeaf(place.queue, entitled);
  }
  for (const place of unit.unqueued) {
    queues[place.index] = queueFairness(place, ofUnqueued(place), nothingSummed(), null, null);
    teams.addLeaf(place.queue, place.queue.allocated);
  }
  const name = <Of extends Pair>(pair: Of): Of => ({
    ...pair,
    starved: unit.nodes[pair.starved]?.index ?? -1,
    borrower: unit.nodes[pair.borrower]?.index ?? -1,
  });
  const named = { pairs: pairs.map(name), heldBack: heldBack.map(name) };
  for (const domain of unit.domains) domains[domain] = domainFairness(domain, queueing, unit, queues, named);
}

/** The shortfall and excess of a queue, added up from its leaves. */
interface Summed {
  excess: number;
  shortfall: number;
  idleGap: number;
  borrowers: number;
  indivisible: number;
  actionable: number;
  /** Made when it is needed: most queues need none. */
  absent: Map<AbsentOwner, number> | null;
}

const nothingSummed = (): Summed => ({
  excess: 0,
  shortfall: 0,
  idleGap: 0,
  borrowers: 0,
  indivisible: 0,
  actionable: 0,
  absent: null,
});

interface Found {
  readonly found: UnitShortfalls;
  readonly actionable: ReadonlyMap<number, number>;
  readonly owners: ReadonlyMap<number, ReadonlyMap<AbsentOwner, number>>;
  readonly unit: SharedUnit;
}

function addLeaf(sum: Summed, node: number, { found, actionable, owners }: Found): void {
  const short = found.shortfalls.get(node) ?? noShortfall;
  sum.excess = found.excess[node] ?? 0;
  sum.shortfall = short.gpus;
  sum.idleGap = short.idleGap;
  sum.borrowers = short.borrowers;
  sum.indivisible = short.indivisible;
  sum.actionable = actionable.get(node) ?? 0;
  const ofOwners = owners.get(node);
  if (ofOwners !== undefined) sum.absent = new Map(ofOwners);
}

function addUp(above: Summed, sum: Summed): void {
  above.excess += sum.excess;
  above.shortfall += sum.shortfall;
  above.idleGap += sum.idleGap;
  above.borrowers += sum.borrowers;
  above.indivisible += sum.indivisible;
  above.actionable += sum.actionable;
  if (sum.absent === null) return;
  above.absent ??= new Map();
  for (const [owner, gpus] of sum.absent) above.absent.set(owner, (above.absent.get(owner) ?? 0) + gpus);
}

function queueFairness(
  { queue }: Placed,
  { demand, entitled }: Pick<QueueFairness, "demand" | "entitled">,
  sum: Summed,
  nodeClasses: readonly NodeClassShare[] | null,
  heldBackBy: string | null,
): QueueFairness {
  const deviation = queue.allocated - entitled;
  return {
    demand,
    entitled,
    deviation: Math.abs(deviation) <= gpuTolerance ? 0 : deviation,
    shortfall: sum.shortfall,
    excess: sum.excess,
    shortfallByBorrowers: sum.borrowers,
    shortfallByIdleGap: sum.idleGap,
    shortfallByAbsentCapacity: sum.absent === null ? [] : [...sum.absent].map(([owner, gpus]) => ({ owner, gpus })),
    shortfallByIndivisible: sum.indivisible,
    actionableShortfall: sum.actionable,
    heldBackBy: sum.borrowers + sum.indivisible > gpuTolerance ? heldBackBy : null,
    ...(nodeClasses === null ? {} : { nodeClasses }),
  };
}

const ofUnqueued = ({ queue: { allocated, pending } }: Placed) => ({
  demand: allocated + pending,
  entitled: allocated,
});

/** Of leaves in domains with several classes: what they hold and are entitled to in each. */
function sharesByClass(
  unit: SharedUnit,
  { domains }: Queueing,
  { byClass }: UnitShortfalls,
): ReadonlyMap<number, readonly NodeClassShare[]> {
  const found = new Map<number, NodeClassShare[]>();
  if (unit.classes.length < 2) return found;
  const allocated = new Map<number, number>();
  for (const { node, nodeClass, gpus } of unit.allocated) allocated.set(placeKey(node, nodeClass), gpus);
  const leaves = leavesByDomain(unit);
  for (const [i, { domain, nodeClass }] of unit.classes.entries()) {
    const name = domains[domain]?.classes?.[nodeClass]?.name ?? domains[domain]?.name ?? "";
    const ofClass = byClass[i]?.entitled;
    for (const node of leaves.get(domain) ?? []) {
      const has = allocated.get(placeKey(node, i)) ?? 0;
      const entitled = ofClass?.get(node) ?? 0;
      if (has <= gpuTolerance && entitled <= gpuTolerance) continue;
      const list = found.get(node) ?? [];
      found.set(node, list);
      list.push({ nodeClass: name, allocated: has, entitled });
    }
  }
  return found;
}

/** Indices of the leaves of each domain, in their order. */
function leavesByDomain({ nodes }: SharedUnit): ReadonlyMap<number, readonly number[]> {
  const found = new Map<number, number[]>();
  for (let node = 0; node < nodes.length; node++) {
    const queue = nodes[node]?.queue;
    if (queue === undefined || queue.children.length > 0) continue;
    const ofDomain = found.get(queue.domain);
    if (ofDomain === undefined) found.set(queue.domain, [node]);
    else ofDomain.push(node);
  }
  return found;
}

function domainFairness(
  domain: number,
  { queues: views }: Queueing,
  unit: SharedUnit,
  queues: readonly (QueueFairness | null)[],
  { pairs, heldBack }: Pick<DomainFairness, "pairs" | "heldBack">,
): DomainFairness {
  let [allocated, pending, entitled, excess, shortfall, idleGap] = [0, 0, 0, 0, 0, 0];
  let [n, sum, squares] = [0, 0, 0];
  for (const { index, queue } of [...unit.nodes, ...unit.unqueued]) {
    const judged = queue.domain === domain && queue.children.length === 0 ? (queues[index] ?? null) : null;
    if (judged === null) continue;
    allocated += queue.allocated;
    pending += queue.pending;
    entitled += judged.entitled;
    excess += judged.excess;
    shortfall += judged.shortfall;
    idleGap += judged.shortfallByIdleGap;
    if (judged.entitled <= gpuTolerance) continue;
    const x = queue.allocated / judged.entitled;
    n++;
    sum += x;
    squares += x * x;
  }
  const here = <Of extends StarvedBorrower>(all: readonly Of[]): readonly Of[] =>
    all
      .filter(({ starved }) => views[starved]?.domain === domain)
      .sort((a, b) => b.gpus - a.gpus || compareText(namesOf(a), namesOf(b)));
  const own = here(pairs);
  const usable = own.reduce((total, { gpus }) => total + gpus, 0);
  return {
    allocated,
    pending,
    entitled,
    excess,
    shortfall,
    idleGap,
    misallocatedRatio: entitled > gpuTolerance ? Math.min(1, usable / entitled) : 0,
    // Jain's index of x = held / entitled: (sum x)^2 / (n * sum x^2); 1 where nobody holds anything yet.
    jainIndex: n === 0 ? null : squares > 0 ? (sum * sum) / (n * squares) : 1,
    pairs: own,
    heldBack: here(heldBack),
  };

  function namesOf({ starved, borrower }: StarvedBorrower): string {
    return `${views[starved]?.name ?? ""}\0${views[borrower]?.name ?? ""}`;
  }
}
