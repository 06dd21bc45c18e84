import type { GpuState } from "../analysis/booking.ts";
import { labelValue } from "../kernel/labelValue.ts";
import { type CounterCell, createCounterTable } from "./counterTable.ts";
import type { NodeCount } from "./inventory.ts";
import type { Account, GapReason, NodeTimeState } from "./posting.ts";
import type { QueueCounters } from "./queueCounters.ts";

/** Budgets of the page; settings `limits`. */
export interface CounterLimits {
  readonly teams: number;
  readonly series: number;
}

/** One running total. */
export type Total<Labels> = Readonly<CounterCell<Labels>>;

/** Team, queue and priority class are empty where nobody holds. */
export interface GpuSecondsLabels {
  readonly state: GpuState;
  readonly team: string;
  readonly queue: string;
  readonly pool: string;
  readonly capacityType: string;
  readonly priorityClass: string;
}

export interface EnergyLabels {
  readonly team: string;
  readonly pool: string;
  readonly state: GpuState;
}

export interface NodeSecondsLabels {
  readonly nodePool: string;
  readonly pool: string;
  readonly state: NodeTimeState;
  readonly capacityType: string;
}

/** Running totals since the process started, for the page. A total never falls, and a label set never goes. */
export interface AccountCounters {
  readonly gpuSeconds: readonly Total<GpuSecondsLabels>[];
  readonly energyJoules: readonly Total<EnergyLabels>[];
  readonly nodeSeconds: readonly Total<NodeSecondsLabels>[];
  readonly imbalanceGpuSeconds: readonly Total<{ readonly pool: string }>[];
  readonly coveredSeconds: number;
  readonly uncoveredSeconds: Readonly<Record<GapReason, number>>;
  /** Accounts of the present moment that share their series with others. */
  readonly foldedAccounts: number;
  readonly queues: QueueCounters;
}

/** The cells of an account. */
export interface AccountCells {
  readonly gpuSeconds: CounterCell<GpuSecondsLabels>;
  /** `null` until something of the account was metered. */
  energy: CounterCell<EnergyLabels> | null;
  /** Others share its series. */
  readonly folded: boolean;
}

/** Finds the cells that count, within their budgets. */
export interface CounterBook {
  isKnown(account: Account): boolean;
  account(account: Account): AccountCells;
  energy(account: Account): CounterCell<EnergyLabels>;
  nodeSeconds(node: Pick<NodeCount, "nodePool" | "pool" | "state" | "capacityType">): CounterCell<NodeSecondsLabels>;
  imbalance(pool: string): CounterCell<{ readonly pool: string }>;
  /** The label of a team; the first `limits.teams` have their own. */
  team(team: string | null): string;
  totals(): Pick<AccountCounters, "gpuSeconds" | "energyJoules" | "nodeSeconds" | "imbalanceGpuSeconds">;
}

const other = "other";
/** Where nobody holds, nobody stands for it. */
const shared = (name: string): string => (name === "" ? "" : other);
const unknown = "unknown";

/** Parts of `limits.series`; three tenths of the page are left to everything else, two thirds of them to queues. */
const budgets = { gpuSeconds: 0.5, energy: 0.1, nodeSeconds: 0.08, imbalance: 0.02 } as const;

/**
 * Creates counters that have counted nothing. The first `limits.teams` teams are named, and label sets get series of their
 * own while the budget lasts; all others count as `other`, and always will, so that no series ever falls.
 */
export function createCounterBook({ teams, series }: CounterLimits): CounterBook {
  const gpuSeconds = createCounterTable<GpuSecondsLabels>(
    series * budgets.gpuSeconds,
    (l) => ({ ...l, team: shared(l.team), queue: shared(l.queue), priorityClass: shared(l.priorityClass) }),
    (l) => ({
      state: l.state,
      team: shared(l.team),
      queue: shared(l.team),
      pool: other,
      capacityType: other,
      priorityClass: shared(l.team),
    }),
  );
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
  const imbalance = createCounterTable<{ readonly pool: string }>(
    series * budgets.imbalance,
    () => ({ pool: other }),
    () => ({ pool: other }),
  );
  const named = new Set<string>();
  const ofAccount = new WeakMap<Account, AccountCells>();

  function teamLabel(team: string | null): string {
    const label = labelValue(team ?? "");
    if (label === "" || named.has(label)) return label;
    if (named.size >= teams) return other;
    named.add(label);
    return label;
  }

  function cellsOf(account: Account): AccountCells {
    const known = ofAccount.get(account);
    if (known !== undefined) return known;
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
    const cells = { gpuSeconds: cell, energy: null, folded: !isOwn };
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
    energy: energyOf,
    team: teamLabel,
    nodeSeconds: ({ nodePool, pool, state, capacityType }) =>
      nodeSeconds.cell({
        nodePool: labelValue(nodePool),
        pool: labelValue(pool),
        state,
        capacityType: capacityType ?? unknown,
      }),
    imbalance: (pool) => imbalance.cell({ pool: labelValue(pool) }),
    totals: () => ({
      gpuSeconds: gpuSeconds.cells,
      energyJoules: energy.cells,
      nodeSeconds: nodeSeconds.cells,
      imbalanceGpuSeconds: imbalance.cells,
    }),
  };
}
