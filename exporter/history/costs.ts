import { bareRecord } from "../kernel/bareRecord.ts";
import { type ChargeBasis, isCharged, shareUnallocated } from "../model/charge.ts";
import type { TotalsDimension, TotalsRow } from "./history.ts";
import { sortedRecord } from "./totalsSum.ts";

/** The dimensions that costs can be grouped by. */
export const costDimensions = ["day", "team", "queue", "pool", "capacityType", "priorityClass"] as const;

export type CostDimension = (typeof costDimensions)[number];

/** How a bill is divided. */
export interface CostView {
  readonly by: readonly CostDimension[];
  readonly charge: ChargeBasis;
  /** The states that nobody pays for. */
  readonly notCharged: readonly string[];
  /** Whether teams that hold GPUs also pay for unallocated ones, in proportion to what was allocated to them. */
  readonly sharesUnallocated: boolean;
}

/** The parts of a group's cost, in one currency. */
export interface CostParts {
  /** What the group pays for its own GPU time. */
  readonly charged: number;
  /** The cost of what it held in states that nobody pays for, which is the platform's part. */
  readonly platform: number;
  /** The group's share of the unallocated cost; 0 if that is not shared. */
  readonly shared: number;
}

/** The cost of one group. */
export interface CostItem {
  /** The values of the group in the order of `CostView.by`; empty text means none. */
  readonly values: readonly string[];
  /** GPU-seconds that the group held. */
  readonly allocatedGpuSeconds: number;
  /** Cost by currency. */
  readonly costs: Readonly<Record<string, CostParts>>;
}

/** A bill and its parts: in each currency, all parts of the items and `unallocated` add up to `bill`. */
export interface Costs {
  /** The items; those that cost most come first. */
  readonly items: readonly CostItem[];
  /** Unallocated cost that no group pays, by currency. */
  readonly unallocated: Readonly<Record<string, number>>;
  readonly bill: Readonly<Record<string, number>>;
}

/** The dimensions by which totals must be grouped for a view, in this order. */
export function costQuestion(by: readonly CostDimension[]): readonly TotalsDimension[] {
  return [...by.filter((dimension) => dimension !== "team"), "team", "state"];
}

interface Draft {
  readonly values: readonly string[];
  allocatedGpuSeconds: number;
  readonly charged: Map<string, number>;
  readonly platform: Map<string, number>;
  /**
   * Cost of allocated GPUs by currency, whatever the basis of charges is; shares of the unallocated cost are in proportion to
   * it.
   */
  readonly allocated: Map<string, number>;
}

/** Divides the cost of a window. `rows` are totals by `costQuestion(view.by)`. */
export function costsOf(rows: readonly TotalsRow[], view: CostView): Costs {
  const question = costQuestion(view.by);
  const places = view.by.map((dimension) => question.indexOf(dimension));
  const drafts = new Map<string, Draft>();
  const unallocated = new Map<string, number>();
  const bill = new Map<string, number>();
  for (const { values, gpuSeconds, costs } of rows) {
    const team = values[question.length - 2] ?? "";
    const state = values[question.length - 1] ?? "";
    for (const [currency, cost] of Object.entries(costs)) {
      add(bill, currency, cost);
      if (team === "") add(unallocated, currency, cost);
    }
    if (team === "") continue;
    const of = places.map((place) => values[place] ?? "");
    const key = JSON.stringify(of);
    const draft = drafts.get(key) ?? draftOf(of);
    drafts.set(key, draft);
    draft.allocatedGpuSeconds += gpuSeconds;
    for (const [currency, cost] of Object.entries(costs)) {
      add(isCharged(state, view.charge, view.notCharged) ? draft.charged : draft.platform, currency, cost);
      if (isCharged(state, "allocation", view.notCharged)) add(draft.allocated, currency, cost);
    }
  }
  const groups = [...drafts.values()];
  const shares = view.sharesUnallocated ? shareOut(groups, unallocated) : new Map<Draft, Map<string, number>>();
  return {
    items: groups.map((draft) => itemOf(draft, shares.get(draft))).sort(byCost),
    unallocated: sortedRecord(unallocated),
    bill: sortedRecord(bill),
  };
}

const draftOf = (values: readonly string[]): Draft => ({
  values,
  allocatedGpuSeconds: 0,
  charged: new Map(),
  platform: new Map(),
  allocated: new Map(),
});

/** Moves from `unallocated` to each group what it pays. The cost stays if nobody can pay it, because nobody was charged. */
function shareOut(groups: readonly Draft[], unallocated: Map<string, number>): ReadonlyMap<Draft, Map<string, number>> {
  const all = new Map(groups.map((draft) => [draft, new Map<string, number>()]));
  for (const [currency, cost] of unallocated) {
    const charges = new Map(groups.map((draft) => [draft, draft.allocated.get(currency) ?? 0]));
    const { shares, platform } = shareUnallocated(charges, cost);
    for (const [draft, share] of shares) all.get(draft)?.set(currency, share);
    unallocated.set(currency, platform);
  }
  return all;
}

function itemOf(draft: Draft, shared: ReadonlyMap<string, number> = new Map()): CostItem {
  const costs = bareRecord<CostParts>();
  for (const currency of [...new Set([...draft.charged.keys(), ...draft.platform.keys()])].sort()) {
    costs[currency] = {
      charged: draft.charged.get(currency) ?? 0,
      platform: draft.platform.get(currency) ?? 0,
      shared: shared.get(currency) ?? 0,
    };
  }
  return { values: draft.values, allocatedGpuSeconds: draft.allocatedGpuSeconds, costs };
}

/** Compares items by cost. Different currencies are not compared: the largest amount decides, then GPU time, then the name. */
function byCost(one: CostItem, other: CostItem): number {
  return (
    largest(other) - largest(one) ||
    other.allocatedGpuSeconds - one.allocatedGpuSeconds ||
    (JSON.stringify(one.values) < JSON.stringify(other.values) ? -1 : 1)
  );
}

const largest = ({ costs }: CostItem): number =>
  Math.max(0, ...Object.values(costs).map(({ charged, shared }) => charged + shared));

function add(sums: Map<string, number>, name: string, amount: number): void {
  sums.set(name, (sums.get(name) ?? 0) + amount);
}
