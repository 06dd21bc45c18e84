import type { Queueing } from "../../join/queues/queueing.ts";
import { compareText } from "../../kernel/compareText.ts";
import { gpuTolerance } from "../../model/gpuTolerance.ts";
import type { AbsentOwner } from "../../model/shortfall.ts";
import { absentOwners } from "./absentCapacity.ts";
import { createGangSteps, type GangSteps } from "./actionable.ts";
import { blameIn } from "./blame.ts";
import { addToParents, type Placed } from "./claims.ts";
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
import { shortfallsOf, type UnitShortfalls } from "./shortfall.ts";
import { createTeamSums, type TeamSums } from "./teams.ts";
import { demandsOf } from "./unitDemand.ts";
import { placeKey } from "./unitNetwork.ts";
import { eachUnit, type SharedUnit } from "./units.ts";

/** Judges what every queue is entitled to, and how far it is from that. Pure. `history` is that of time-based fairshare. */
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

function judgeUnit({ queueing, unit, gangSteps, kValue, queues, domains, teams }: UnitTask): void {
  const entitlement = entitle(unit, { kValue });
  const found = shortfallsOf(unit, entitlement);
  const { pairs, actionable, heldBack } = blameIn(unit, queueing, found, gangSteps);
  const because = new Map(heldBack.map((pair) => [pair.starved, pair.because] as const));
  const owners = absentOwners(unit, queueing, found.shortfalls);
  const demands = demandsOf(unit, found.entitled);
  const classShares = sharesByClass(unit, queueing, found);
  const sums = sumUp(unit, found, actionable, owners);
  for (let i = unit.nodes.length - 1; i >= 0; i--) {
    const place = unit.nodes[i];
    if (place === undefined) continue;
    const entitled = found.entitled[i] ?? 0;
    queues[place.index] = queueFairness(
      place,
      { demand: demands[i] ?? 0, entitled },
      { sums, node: i },
      classShares.get(i) ?? null,
      because.get(i) ?? null,
    );
    if (place.queue.children.length === 0) teams.addLeaf(place.queue, entitled);
  }
  for (const place of unit.unqueued) {
    queues[place.index] = queueFairness(place, ofUnqueued(place), { sums, node: -1 }, null, null);
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

/** The shortfall and excess of queues, added up from their leaves. Columns parallel to `SharedUnit.nodes`, physical GPUs. */
interface Sums {
  readonly excess: Float64Array;
  readonly shortfall: Float64Array;
  readonly idleGap: Float64Array;
  readonly borrowers: Float64Array;
  readonly indivisible: Float64Array;
  readonly actionable: Float64Array;
  /** Absent capacity by owner, for those queues that lack any. */
  readonly absent: ReadonlyMap<number, ReadonlyMap<AbsentOwner, number>>;
}

function sumUp(
  { nodes }: SharedUnit,
  { excess: above, shortfalls }: UnitShortfalls,
  actionableOf: ReadonlyMap<number, number>,
  owners: ReadonlyMap<number, ReadonlyMap<AbsentOwner, number>>,
): Sums {
  const column = () => new Float64Array(nodes.length);
  const [shortfall, idleGap, borrowers, indivisible, actionable] = [column(), column(), column(), column(), column()];
  for (const [node, short] of shortfalls) {
    shortfall[node] = short.gpus;
    idleGap[node] = short.idleGap;
    borrowers[node] = short.borrowers;
    indivisible[node] = short.indivisible;
  }
  for (const [node, gpus] of actionableOf) actionable[node] = gpus;
  const excess = above.slice();
  for (const sums of [excess, shortfall, idleGap, borrowers, indivisible, actionable]) addToParents(nodes, sums);
  return { excess, shortfall, idleGap, borrowers, indivisible, actionable, absent: absentUpwards(nodes, owners) };
}

function absentUpwards(
  nodes: SharedUnit["nodes"],
  owners: ReadonlyMap<number, ReadonlyMap<AbsentOwner, number>>,
): Sums["absent"] {
  const absent = new Map<number, Map<AbsentOwner, number>>();
  if (owners.size === 0) return absent;
  for (const [node, ofOwners] of owners) absent.set(node, new Map(ofOwners));
  for (let i = nodes.length - 1; i >= 0; i--) {
    const parent = nodes[i]?.parent ?? null;
    const own = absent.get(i);
    if (own === undefined || parent === null) continue;
    const above = absent.get(parent) ?? new Map<AbsentOwner, number>();
    absent.set(parent, above);
    for (const [owner, gpus] of own) above.set(owner, (above.get(owner) ?? 0) + gpus);
  }
  return absent;
}

function queueFairness(
  { queue }: Placed,
  { demand, entitled }: Pick<QueueFairness, "demand" | "entitled">,
  { sums, node }: { readonly sums: Sums; readonly node: number },
  nodeClasses: readonly NodeClassShare[] | null,
  heldBackBy: string | null,
): QueueFairness {
  const deviation = queue.allocated - entitled;
  const absent = sums.absent.get(node);
  const [borrowers, indivisible] = [sums.borrowers[node] ?? 0, sums.indivisible[node] ?? 0];
  return {
    demand,
    entitled,
    deviation: Math.abs(deviation) <= gpuTolerance ? 0 : deviation,
    shortfall: sums.shortfall[node] ?? 0,
    excess: sums.excess[node] ?? 0,
    shortfallByBorrowers: borrowers,
    shortfallByIdleGap: sums.idleGap[node] ?? 0,
    shortfallByAbsentCapacity: absent === undefined ? noOwners : [...absent].map(([owner, gpus]) => ({ owner, gpus })),
    shortfallByIndivisible: indivisible,
    actionableShortfall: sums.actionable[node] ?? 0,
    heldBackBy: borrowers + indivisible > gpuTolerance ? heldBackBy : null,
    ...(nodeClasses === null ? {} : { nodeClasses }),
  };
}

const noOwners: QueueFairness["shortfallByAbsentCapacity"] = [];

const ofUnqueued = ({ queue: { allocated, pending } }: Placed) => ({
  demand: allocated + pending,
  entitled: allocated,
});

/** For leaves in domains with several classes: what they hold and are entitled to in each class. */
function sharesByClass(
  unit: SharedUnit,
  { domains }: Queueing,
  { byClass }: UnitShortfalls,
): ReadonlyMap<number, readonly NodeClassShare[]> {
  const found = new Map<number, NodeClassShare[]>();
  if (unit.classes.length < 2) return found;
  const allocated = new Map<number, number>();
  for (const { node, nodeClass, gpus } of unit.allocated) allocated.set(placeKey(unit, node, nodeClass), gpus);
  const leaves = leavesByDomain(unit);
  for (const [i, { domain, nodeClass }] of unit.classes.entries()) {
    const name = domains[domain]?.classes?.[nodeClass]?.name ?? domains[domain]?.name ?? "";
    const ofClass = byClass[i]?.entitled;
    for (const node of leaves.get(domain) ?? []) {
      const has = allocated.get(placeKey(unit, node, i)) ?? 0;
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
  for (let i = 0; i < unit.nodes.length + unit.unqueued.length; i++) {
    const { index = -1, queue } = unit.nodes[i] ?? unit.unqueued[i - unit.nodes.length] ?? {};
    const judged = queue?.domain === domain && queue.children.length === 0 ? (queues[index] ?? null) : null;
    if (judged === null || queue === undefined) continue;
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
