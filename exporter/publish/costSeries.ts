import type { Analysis } from "../analysis/analysis.ts";
import { labelValue } from "../kernel/labelValue.ts";
import type { Steps } from "../kernel/steps.ts";
import type { CostSettings, CostSums } from "./costSums.ts";

/** The label value of all that is beyond the budget. */
const others = "other";

/** What somebody's GPUs cost per hour, in one currency. */
export interface OwnerCost {
  readonly name: string;
  /** Of a namespace: its team. */
  readonly team: string;
  readonly currency: string;
  readonly allocation: number;
  readonly use: number;
}

/** One of the workloads that cost most. */
export interface WorkloadCost {
  readonly team: string;
  readonly namespace: string;
  /** `KIND/NAME`. */
  readonly workload: string;
  readonly currency: string;
  readonly cost: number;
}

/** The cost rates of a page. */
export interface CostSeries {
  readonly teams: readonly OwnerCost[];
  readonly queues: readonly OwnerCost[];
  readonly namespaces: readonly OwnerCost[];
  readonly workloads: readonly WorkloadCost[];
  /** Namespaces with series of their own. */
  readonly named: number;
}

/**
 * The rates of a page: of teams those whose names it has, of queues and namespaces the `limit` dearest, all others added up as
 * `other`; and the dearest workloads.
 */
export function* costSeries(
  analysis: Analysis,
  { holders }: CostSums,
  shown: { readonly teams: ReadonlySet<string>; readonly limit: number; readonly topWorkloads: number },
): Steps<CostSeries> {
  if (holders.length === 0) return { teams: [], queues: [], namespaces: [], workloads: [], named: 0 };
  const teamName = (team: string): string => (shown.teams.has(labelValue(team)) ? labelValue(team) : others);
  const ofTeams = yield* addUp(holders, ({ team }) => team, ofNoTeam);
  const ofQueues = yield* addUp(holders, ({ queue }) => queue ?? "", ofNoTeam);
  const ofNamespaces = yield* addUp(
    holders,
    ({ namespace }) => namespace,
    ({ team }) => team,
  );
  const queues = dearest(ofQueues, shown.limit);
  const namespaces = dearest(ofNamespaces, shown.limit);
  const nameIn =
    (names: ReadonlySet<string>) =>
    (name: string): string =>
      names.has(name) ? labelValue(name) : others;
  yield;
  return {
    teams: renamed(ofTeams, teamName, () => ""),
    queues: renamed(ofQueues, nameIn(queues), () => ""),
    namespaces: renamed(ofNamespaces, nameIn(namespaces), teamName),
    workloads: yield* topWorkloads(analysis, holders, shown.topWorkloads),
    named: namespaces.size,
  };
}

type Holders = CostSums["holders"];
type Holder = Holders[number];
type Costs = OwnerCost & { cost: number; allocation: number; use: number };
/** By owner, its team, and currency. */
type OwnerSums = Map<string, Map<string, Map<string, Costs>>>;

const holdersPerStep = 5000;
const ofNoTeam = (): string => "";

/** Sums by owner, with pauses. Maps within maps: no holder needs a key of its own. */
function* addUp(
  holders: Holders,
  ownerOf: (holder: Holder) => string,
  teamOf: (holder: Holder) => string,
): Steps<OwnerSums> {
  const sums: OwnerSums = new Map();
  for (const [i, holder] of holders.entries()) {
    if (i % holdersPerStep === 0) yield;
    const { currency, cost, allocation, use } = holder;
    if (currency === null) continue;
    const name = ownerOf(holder);
    const team = teamOf(holder);
    const sum = sums.get(name)?.get(team)?.get(currency) ?? place(sums, { name, team, currency });
    sum.cost += cost;
    sum.allocation += allocation;
    sum.use += use;
  }
  return sums;
}

function place(sums: OwnerSums, owner: Pick<OwnerCost, "name" | "team" | "currency">): Costs {
  const ofName = sums.get(owner.name) ?? new Map<string, Map<string, Costs>>();
  const ofTeam = ofName.get(owner.team) ?? new Map<string, Costs>();
  const sum = ofTeam.get(owner.currency) ?? { ...owner, cost: 0, allocation: 0, use: 0 };
  sums.set(owner.name, ofName);
  ofName.set(owner.team, ofTeam);
  ofTeam.set(owner.currency, sum);
  return sum;
}

function* everySum(sums: OwnerSums): Generator<Costs, void> {
  for (const ofName of sums.values()) for (const ofTeam of ofName.values()) yield* ofTeam.values();
}

/** The owners with the largest costs; amounts of different currencies are compared as they are, to choose and not to tell. */
function dearest(sums: OwnerSums, limit: number): ReadonlySet<string> {
  if (sums.size <= limit) return new Set(sums.keys());
  const costs = new Map<string, number>();
  for (const { name, cost } of everySum(sums)) costs.set(name, (costs.get(name) ?? 0) + cost);
  const sorted = [...costs].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1));
  return new Set(sorted.slice(0, limit).map(([name]) => name));
}

/** The sums under the names that are shown, the dearest first. */
function renamed(
  sums: OwnerSums,
  shownName: (name: string) => string,
  shownTeam: (team: string) => string,
): readonly OwnerCost[] {
  const shown: OwnerSums = new Map();
  for (const { name, team, currency, cost, allocation, use } of everySum(sums)) {
    const sum = place(shown, { name: shownName(name), team: shownTeam(team), currency });
    sum.cost += cost;
    sum.allocation += allocation;
    sum.use += use;
  }
  return [...everySum(shown)].sort((a, b) => b.allocation - a.allocation);
}

type WorkloadSum = Pick<Holder, "workload" | "team" | "namespace"> & { readonly currency: string; cost: number };

function* topWorkloads(
  { snapshot }: Analysis,
  holders: Holders,
  top: CostSettings["topWorkloads"],
): Steps<readonly WorkloadCost[]> {
  const byCurrency = new Map<string, Map<number, WorkloadSum>>();
  for (const [i, { workload, team, namespace, currency, cost }] of holders.entries()) {
    if (i % holdersPerStep === 0) yield;
    if (top === 0 || currency === null || cost === 0) continue;
    let sums = byCurrency.get(currency);
    if (sums === undefined) {
      sums = new Map();
      byCurrency.set(currency, sums);
    }
    const sum = sums.get(workload);
    if (sum === undefined) sums.set(workload, { workload, team, namespace, currency, cost });
    else sum.cost += cost;
  }
  yield;
  const all = [...byCurrency.values()].flatMap((sums) => [...sums.values()]);
  const costs = Float64Array.from(all, ({ cost }) => cost).sort();
  const least = costs[Math.max(0, costs.length - top)] ?? 0;
  const largest = all.filter(({ cost }) => cost >= least);
  largest.sort((a, b) => b.cost - a.cost || a.workload - b.workload);
  return largest.slice(0, top).flatMap(({ workload, ...sum }) => {
    const view = snapshot.workloads[workload];
    return view === undefined ? [] : [{ ...sum, workload: `${view.kind}/${view.name}` }];
  });
}
