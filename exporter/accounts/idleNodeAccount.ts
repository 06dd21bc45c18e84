import { labelValue } from "../kernel/labelValue.ts";
import { createIdleHours, type IdleWindow, type PastIdleTime } from "./idleHours.ts";
import { type IdleNodeState, isIdleNodeState } from "./idleNodeStates.ts";
import type { NodeCount } from "./inventory.ts";
import type { AccruedTime } from "./posting.ts";
import { type CounterCell, createCounterTable, other } from "./seriesTable.ts";

/** The labels that the cost of idle nodes is counted by. */
export interface IdleNodeCostLabels {
  readonly pool: string;
  readonly nodePool: string;
  readonly capacityType: string;
  readonly state: IdleNodeState;
  readonly currency: string;
}

/** What is reported about idle nodes over time, besides the seconds that all nodes have. */
export interface IdleNodeCounters {
  /** Costs since the process started; only nodes with a price are in it. */
  readonly costs: readonly Readonly<CounterCell<IdleNodeCostLabels>>[];
  /** Idle time up to the last counted moment; empty before the first one. */
  readonly windows: readonly IdleWindow[];
}

/** Counts what idle nodes cost, and how long nodes were idle in the last hours and days. */
export interface IdleNodeAccount {
  /** Announces every cell that the next step can add to, with its value before that step. */
  announce(counts: readonly NodeCount[]): void;
  add(step: Pick<AccruedTime, "interval" | "nodeTimes">): void;
  /** The totals, and the windows up to `at`, seconds since the epoch. */
  counters(at: number | null): IdleNodeCounters;
}

const unknown = "unknown";
/** The part of `limits.series` that these series may take; idle nodes form few groups, and most clusters have one currency. */
const budget = 0.01;

/** Creates an account that has counted nothing since the start, and contains what the ledger has about the last days. */
export function createIdleNodeAccount(series: number, past: PastIdleTime | null): IdleNodeAccount {
  const hours = createIdleHours(past);
  const costs = createCounterTable<IdleNodeCostLabels>(
    series * budget,
    (labels) => ({ ...labels, nodePool: other }),
    (labels) => ({ ...labels, pool: other, nodePool: other, capacityType: other }),
  );

  function cellOf(group: Omit<NodeCount, "nodes" | "costPerHour">): CounterCell<IdleNodeCostLabels> | null {
    const { pool, nodePool, capacityType, state, currency } = group;
    if (currency === null || !isIdleNodeState(state)) return null;
    return costs.cell({
      pool: labelValue(pool),
      nodePool: labelValue(nodePool),
      capacityType: capacityType ?? unknown,
      state,
      currency: labelValue(currency),
    });
  }

  return {
    announce(counts) {
      for (const count of counts) cellOf(count);
    },
    add(step) {
      hours.add(step);
      for (const time of step.nodeTimes) {
        const cell = cellOf(time);
        if (cell !== null) cell.value += time.cost ?? 0;
      }
    },
    counters: (at) => ({ costs: costs.cells, windows: at === null ? [] : hours.windows(at) }),
  };
}
