import { labelValue } from "../kernel/labelValue.ts";
import type { GapReason } from "../model/gapReasons.ts";
import type { ApplicationErrorLabels } from "./applicationErrors.ts";
import type {
  CostLabels,
  EnergyLabels,
  GpuSecondsLabels,
  HealthLabels,
  NamespaceCostLabels,
  NodeSecondsLabels,
} from "./counterLabels.ts";
import type { FailureTotals } from "./failureAccount.ts";
import { foldedLabels, leastLabels } from "./foldedLabels.ts";
import type { HealthGroup } from "./healthTime.ts";
import type { IdleNodeCounters } from "./idleNodeAccount.ts";
import type { NodeCount } from "./inventory.ts";
import type { Account } from "./posting.ts";
import type { ProgressCost } from "./progressAccount.ts";
import type { QueueCounters } from "./queueCounters.ts";
import {
  type CounterCell,
  createCounterTable,
  createPoolCounter,
  createTeamNames,
  other,
  shared,
} from "./seriesTable.ts";
import type { ServingCounters } from "./servingAccount.ts";

/** Limits on the number of series on the page; settings `limits`. */
export interface CounterLimits {
  readonly teams: number;
  readonly series: number;
}

/** One running total. */
export type Total<Labels> = Readonly<CounterCell<Labels>>;

/**
 * Running totals since the process started, for the page. A total never falls, and a label set is removed only when nothing has
 * been added to it for an hour and another one needs its place in the budget.
 */
export interface AccountCounters {
  readonly gpuSeconds: readonly Total<GpuSecondsLabels>[];
  /** Cost of the GPU time that has a price, with the labels of `gpuSeconds` and the currency. */
  readonly costs: readonly Total<CostLabels>[];
  /** GPU-seconds without a price, for every pool that was counted. */
  readonly unpricedGpuSeconds: readonly Total<{ readonly pool: string }>[];
  readonly namespaceCosts: readonly Total<NamespaceCostLabels>[];
  readonly energyJoules: readonly Total<EnergyLabels>[];
  /** Grams of CO2 equivalent that a kWh of energy emits; `null` if this is not reported. */
  readonly co2GramsPerKwh: number | null;
  readonly nodeSeconds: readonly Total<NodeSecondsLabels>[];
  /** GPU-seconds that have a health cause. */
  readonly healthSeconds: readonly Total<HealthLabels>[];
  readonly imbalanceGpuSeconds: readonly Total<{ readonly pool: string }>[];
  readonly coveredSeconds: number;
  readonly uncoveredSeconds: Readonly<Record<GapReason, number>>;
  /** Number of accounts of the present moment that share their series with others. */
  readonly foldedAccounts: number;
  /**
   * Progress of workloads that report it. These are not totals, because they come and go. The most expensive ones come first.
   */
  readonly progress: readonly ProgressCost[];
  /** XID errors that blame the job, by the team that held the GPU; empty where no telemetry reports XID errors. */
  readonly applicationErrors: readonly Total<ApplicationErrorLabels>[];
  readonly failures: readonly FailureTotals[];
  readonly queues: QueueCounters;
  readonly idleNodes: IdleNodeCounters;
  readonly serving: ServingCounters;
}

/** The cells of an account. */
export interface AccountCells {
  readonly gpuSeconds: CounterCell<GpuSecondsLabels>;
  /** Cell of the cost; `null` without a currency. */
  readonly cost: CounterCell<CostLabels> | null;
  /** Cell of the cost by namespace; `null` without a currency, and for GPUs that nobody held. */
  readonly namespaceCost: CounterCell<NamespaceCostLabels> | null;
  readonly unpriced: CounterCell<{ readonly pool: string }>;
  /** Cell of the energy; `null` until some energy of the account was metered. */
  energy: CounterCell<EnergyLabels> | null;
  /** Whether other accounts share its series. */
  readonly folded: boolean;
}

/** Finds the cells that an account adds to, within the budgets. */
export interface CounterAccount {
  isKnown(account: Account): boolean;
  account(account: Account): AccountCells;
  /**
   * Announces that an account belongs to the moment that has begun, before the next step can add to it. Its cells stay, and an
   * account that has shared the series of others gets its own if there is a place now.
   */
  announce(account: Account): AccountCells;
  /** Begins the moment at this time, seconds since the epoch. */
  begin(at: number): void;
  energy(account: Account): CounterCell<EnergyLabels>;
  nodeSeconds(node: Pick<NodeCount, "nodePool" | "pool" | "state" | "capacityType">): CounterCell<NodeSecondsLabels>;
  health(group: Pick<HealthGroup, "pool" | "team" | "cause">): CounterCell<HealthLabels>;
  imbalance(pool: string): CounterCell<{ readonly pool: string }>;
  /**
   * The label of a team. The first `limits.teams` teams have their own label, which they keep while something of theirs is
   * counted at least once an hour.
   */
  team(team: string | null): string;
  totals(): Pick<
    AccountCounters,
    | "gpuSeconds"
    | "costs"
    | "unpricedGpuSeconds"
    | "namespaceCosts"
    | "energyJoules"
    | "nodeSeconds"
    | "healthSeconds"
    | "imbalanceGpuSeconds"
  >;
}

const unknown = "unknown";

/**
 * The parts of `limits.series` that these series may take; more than a quarter of the page is left to everything else, most of
 * that to queues. Cost gets as much as GPU time because it has the same labels; energy counts twice where emissions are
 * reported.
 */
const budgets = {
  gpuSeconds: 0.25,
  costs: 0.25,
  namespaceCosts: 0.04,
  unpriced: 0.005,
  energy: 0.05,
  nodeSeconds: 0.05,
  health: 0.02,
  imbalance: 0.005,
} as const;

/**
 * Creates counters that have counted nothing. The first `limits.teams` teams are named, and label sets get series of their own
 * while the budget lasts. All others count as `other` until there is a place: series under which nobody has had GPUs for an
 * hour are given up when another label set needs them. No series ever falls.
 */
export function createCounterAccount({ teams, series }: CounterLimits): CounterAccount {
  const gpuSeconds = createCounterTable<GpuSecondsLabels>(series * budgets.gpuSeconds, foldedLabels, leastLabels);
  const costs = createCounterTable<CostLabels>(
    series * budgets.costs,
    (l) => ({ ...foldedLabels(l), currency: l.currency }),
    (l) => ({ ...leastLabels(l), currency: l.currency }),
  );
  const namespaceCosts = createCounterTable<NamespaceCostLabels>(
    series * budgets.namespaceCosts,
    (l) => ({ ...l, namespace: other }),
    (l) => ({ namespace: other, team: other, currency: l.currency }),
  );
  const unpriced = createPoolCounter(series * budgets.unpriced);
  const energy = createCounterTable<EnergyLabels>(
    series * budgets.energy,
    (l) => ({ ...l, team: shared(l.team) }),
    (l) => ({ ...l, team: shared(l.team), pool: other }),
  );
  const nodeSeconds = createCounterTable<NodeSecondsLabels>(
    series * budgets.nodeSeconds,
    (l) => ({ ...l, nodePool: other }),
    (l) => ({ nodePool: other, pool: other, state: l.state, capacityType: other }),
  );
  const health = createCounterTable<HealthLabels>(
    series * budgets.health,
    (l) => ({ ...l, team: shared(l.team) }),
    (l) => ({ ...l, team: shared(l.team), pool: other }),
  );
  const imbalance = createPoolCounter(series * budgets.imbalance);
  const ofTeams = [gpuSeconds, costs, namespaceCosts, energy, health];
  const { label: teamLabel, begin: beginTeams } = createTeamNames(teams, (gone) => {
    for (const table of ofTeams) table.drop(({ team }: { readonly team: string }) => gone.has(team));
  });
  const ofAccount = new WeakMap<Account, AccountCells>();

  function cellsOf(account: Account): AccountCells {
    const known = ofAccount.get(account);
    return known !== undefined && isKept(known) ? known : findCells(account);
  }

  const isKept = ({ gpuSeconds: time, cost, namespaceCost, energy: joules }: AccountCells): boolean =>
    gpuSeconds.has(time) &&
    (cost === null || costs.has(cost)) &&
    (namespaceCost === null || namespaceCosts.has(namespaceCost)) &&
    (joules === null || energy.has(joules));

  function announceCells(account: Account): AccountCells {
    const known = ofAccount.get(account);
    if (known === undefined || known.folded || !isKept(known)) return findCells(account);
    teamLabel(account.team);
    gpuSeconds.use(known.gpuSeconds);
    if (known.cost !== null) costs.use(known.cost);
    if (known.namespaceCost !== null) namespaceCosts.use(known.namespaceCost);
    if (known.energy !== null) energy.use(known.energy);
    return known;
  }

  function findCells(account: Account): AccountCells {
    const team = teamLabel(account.team);
    const labels: GpuSecondsLabels = {
      state: account.state,
      team,
      queue: labelValue(account.queue ?? ""),
      pool: labelValue(account.pool),
      capacityType: account.capacityType ?? unknown,
      priorityClass: labelValue(account.priorityClass ?? ""),
    };
    const cell = gpuSeconds.cell(labels);
    const isOwn = team === labelValue(account.team ?? "") && JSON.stringify(cell.labels) === JSON.stringify(labels);
    const currency = account.currency === null ? null : labelValue(account.currency);
    const { namespace, pool } = account;
    const cells: AccountCells = {
      gpuSeconds: cell,
      // The cost is counted under the labels of its own GPU time, even where these were folded into others, so that the two
      // counters can be divided for the same labels.
      cost: currency === null ? null : costs.cell({ ...cell.labels, currency }),
      namespaceCost:
        currency === null || namespace === null
          ? null
          : namespaceCosts.cell({ namespace: labelValue(namespace), team, currency }),
      unpriced: unpriced.cell({ pool: labelValue(pool) }),
      energy: null,
      folded: !isOwn,
    };
    ofAccount.set(account, cells);
    return cells;
  }

  function energyOf(account: Account): CounterCell<EnergyLabels> {
    const cells = cellsOf(account);
    const { team, state } = account;
    cells.energy ??= energy.cell({ team: teamLabel(team), pool: labelValue(account.pool), state });
    return cells.energy;
  }

  return {
    isKnown: (account) => ofAccount.has(account),
    account: cellsOf,
    announce: announceCells,
    begin(at) {
      beginTeams(at);
      for (const table of ofTeams) table.begin(at);
    },
    energy: energyOf,
    team: teamLabel,
    nodeSeconds: ({ nodePool, pool, state, capacityType }) =>
      nodeSeconds.cell({
        nodePool: labelValue(nodePool),
        pool: labelValue(pool),
        state,
        capacityType: capacityType ?? unknown,
      }),
    health: ({ pool, team, cause }) => health.cell({ pool: labelValue(pool), team: teamLabel(team), cause }),
    imbalance: (pool) => imbalance.cell({ pool: labelValue(pool) }),
    totals: () => ({
      gpuSeconds: gpuSeconds.cells,
      costs: costs.cells,
      unpricedGpuSeconds: unpriced.cells,
      namespaceCosts: namespaceCosts.cells,
      energyJoules: energy.cells,
      nodeSeconds: nodeSeconds.cells,
      healthSeconds: health.cells,
      imbalanceGpuSeconds: imbalance.cells,
    }),
  };
}
