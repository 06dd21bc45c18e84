import type { Analysis } from "../analysis/analysis.ts";
import type { CostSettings, CostSums } from "../analysis/sums/costSums.ts";
import { labelValue } from "../kernel/labelValue.ts";
import { createTupleInterner } from "../kernel/tupleInterner.ts";

/** The label value of all owners that are beyond the budget of series. */
const others = "other";

/** What the GPUs of one owner (a team, queue or namespace) cost per hour, in one currency. */
export interface OwnerCost {
  readonly name: string;
  /** The team of a namespace; empty for teams and queues. */
  readonly team: string;
  readonly currency: string;
  readonly allocation: number;
  readonly use: number;
}

/** One of the workloads that cost most. */
interface WorkloadCost {
  readonly team: string;
  readonly namespace: string;
  /** Kind and name of the workload: `KIND/NAME`. */
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
  /** How many namespaces have series of their own. */
  readonly named: number;
}

/**
 * The rates of a page: the teams whose names it has, the `limit` most expensive queues and namespaces, all others added up as
 * `other`; and the most expensive workloads.
 */
export function costSeries(
  analysis: Analysis,
  { holders }: CostSums,
  shown: { readonly teams: ReadonlySet<string>; readonly limit: number; readonly topWorkloads: number },
): CostSeries {
  if (holders.length === 0) return { teams: [], queues: [], namespaces: [], workloads: [], named: 0 };
  const teamName = (team: string): string => (shown.teams.has(labelValue(team)) ? labelValue(team) : others);
  const { ofTeams, ofQueues, ofNamespaces } = addUp(holders);
  const queues = dearest(ofQueues, shown.limit);
  const namespaces = dearest(ofNamespaces, shown.limit);
  const nameIn =
    (names: ReadonlySet<string>) =>
    (name: string): string =>
      names.has(name) ? labelValue(name) : others;
  return {
    teams: renamed(ofTeams, teamName, () => ""),
    queues: renamed(ofQueues, nameIn(queues), () => ""),
    namespaces: renamed(ofNamespaces, nameIn(namespaces), teamName),
    workloads: shown.topWorkloads > 0 ? topWorkloads(analysis, holders, shown.topWorkloads) : [],
    named: namespaces.size,
  };
}

type Holders = CostSums["holders"];
type Holder = Holders[number];
type Costs = OwnerCost & { cost: number; allocation: number; use: number };

/** Creates sums by owner, its team and the currency. */
function createOwnerSums() {
  const ids = createTupleInterner();
  const sums: Costs[] = [];
  return {
    sums,
    of: (name: string, team: string, currency: string): Costs => {
      const id = ids.idOf([name, team, currency]);
      const known = sums[id] ?? { name, team, currency, cost: 0, allocation: 0, use: 0 };
      sums[id] = known;
      return known;
    },
  };
}

/** Adds up costs by team, by queue and by namespace. */
function addUp(holders: Holders) {
  const [teams, queues, namespaces] = [createOwnerSums(), createOwnerSums(), createOwnerSums()];
  const owners = createTupleInterner();
  /** The three sums that an owner's costs are part of. */
  const sumsOf: (readonly Costs[])[] = [];
  for (const holder of holders) {
    const { team, queue, namespace, currency } = holder;
    if (currency === null) continue;
    const id = owners.idOf([namespace, team, queue, currency]);
    const known = sumsOf[id] ?? [
      teams.of(team, "", currency),
      queues.of(queue ?? "", "", currency),
      namespaces.of(namespace, team, currency),
    ];
    sumsOf[id] = known;
    for (const sum of known) addTo(sum, holder);
  }
  return { ofTeams: teams.sums, ofQueues: queues.sums, ofNamespaces: namespaces.sums };
}

function addTo(sum: Costs, { cost, allocation, use }: Pick<Costs, "cost" | "allocation" | "use">): void {
  sum.cost += cost;
  sum.allocation += allocation;
  sum.use += use;
}

/**
 * The owners with the largest costs. Amounts of different currencies are compared as plain numbers, because this only chooses
 * which owners are shown.
 */
function dearest(sums: readonly Costs[], limit: number): ReadonlySet<string> {
  const costs = new Map<string, number>();
  for (const { name, cost } of sums) costs.set(name, (costs.get(name) ?? 0) + cost);
  const sorted = [...costs].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1));
  return new Set(sorted.slice(0, limit).map(([name]) => name));
}

/** Adds up costs under the names that are shown; the largest costs come first. */
function renamed(
  sums: readonly Costs[],
  shownName: (name: string) => string,
  shownTeam: (team: string) => string,
): readonly OwnerCost[] {
  const shown = createOwnerSums();
  for (const costs of sums) addTo(shown.of(shownName(costs.name), shownTeam(costs.team), costs.currency), costs);
  return shown.sums.sort((a, b) => b.allocation - a.allocation);
}

type WorkloadSum = Pick<Holder, "workload" | "team" | "namespace"> & { readonly currency: string; cost: number };

/**
 * The most expensive workloads, found in one pass: once about twice as many as wanted have been collected, those that are no
 * longer among the dearest are dropped.
 */
function topWorkloads(
  { snapshot }: Analysis,
  holders: Holders,
  top: CostSettings["topWorkloads"],
): readonly WorkloadCost[] {
  const byCurrency = sumsByWorkload(holders, snapshot.workloads.length);
  let dearestSums: WorkloadSum[] = [];
  let least = 0;
  const cut = (): void => {
    dearestSums = dearestSums.sort((a, b) => b.cost - a.cost || a.workload - b.workload).slice(0, top);
    if (dearestSums.length === top) least = dearestSums.at(-1)?.cost ?? 0;
  };
  for (const sums of byCurrency.values()) {
    for (const sum of sums) {
      if (sum === undefined || sum.cost < least) continue;
      dearestSums.push(sum);
      if (dearestSums.length >= 2 * top + 100) cut();
    }
  }
  cut();
  return dearestSums.flatMap(({ workload, ...sum }) => {
    const view = snapshot.workloads[workload];
    return view === undefined ? [] : [{ ...sum, workload: `${view.kind}/${view.name}` }];
  });
}

/** Adds up costs by currency and index of the workload. */
function sumsByWorkload(holders: Holders, workloads: number): Map<string, (WorkloadSum | undefined)[]> {
  const byCurrency = new Map<string, (WorkloadSum | undefined)[]>();
  for (const { workload, team, namespace, currency, cost } of holders) {
    if (currency === null || cost === 0) continue;
    let sums = byCurrency.get(currency);
    if (sums === undefined) {
      sums = new Array<WorkloadSum | undefined>(workloads).fill(undefined);
      byCurrency.set(currency, sums);
    }
    const sum = sums[workload];
    if (sum === undefined) sums[workload] = { workload, team, namespace, currency, cost };
    else sum.cost += cost;
  }
  return byCurrency;
}
