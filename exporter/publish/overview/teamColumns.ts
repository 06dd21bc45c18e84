import type { NeverReason } from "../../join/queues/queueing.ts";
import type { GpuState } from "../../model/gpuStates.ts";
import { duration, gpus, percent, signed } from "../terminal/columns.ts";
import { costText, money } from "../terminal/costText.ts";
import type { AllTeams, TeamRow, TeamRows, TeamWait } from "./teamRows.ts";

/** A column of the table of teams; the columns follow the name of the team. */
interface TeamColumn {
  readonly heading: string;
  readonly of: (row: TeamRow) => string;
  /** The cell in the line of sums. */
  readonly ofAll: (all: AllTeams) => string;
  /** Whether its cells are words and not numbers. */
  readonly isText?: boolean;
}

/** States of GPUs that a team holds but cannot use: gangs that wait, containers that start, and nodes that are down. */
const notUsable: readonly GpuState[] = ["gang_wait", "starting", "unavailable"];

/**
 * The columns that have something to show. Where nothing is known of shares, `withAllStates` shows what else GPUs do. Work that
 * waits is shown with its age if `hasAges` is true.
 */
export function teamColumns(
  { rows, withShares, currency }: TeamRows,
  { withAllStates = false, hasAges = true }: { readonly withAllStates?: boolean; readonly hasAges?: boolean } = {},
): readonly TeamColumn[] {
  const isStalled = rows.some(({ states }) => (states.stalled ?? 0) > 1e-9);
  const isFull = withAllStates && !withShares;
  const others =
    currency === null
      ? [inStates("not usable", ...notUsable), inStates("unobserved", "unobserved")]
      : [inStates("other", ...notUsable, "unobserved")];
  return [
    ...(withShares ? [entitledColumn] : []),
    { heading: "allocated", of: allocatedText, ofAll: ({ allocated }) => gpus(allocated) },
    { heading: "active", of: ({ active }) => gpus(active), ofAll: ({ active }) => gpus(active) },
    ...(isFull ? [inStates("underutilized", "underutilized")] : []),
    inStates("idle", "idle"),
    ...(isStalled ? [inStates("stalled", "stalled")] : []),
    ...(isFull ? others : []),
    { heading: "use", of: ({ utilization }) => percent(utilization), ofAll: () => "" },
    ...(withShares ? [deviationColumn] : []),
    {
      heading: "waiting",
      of: ({ wait }) => waitText(wait, hasAges),
      ofAll: ({ waiting }) => (waiting > 0 ? gpus(waiting) : "-"),
      isText: true,
    },
    ...(currency === null ? [] : [costColumn(currency)]),
  ];
}

const amount = (value: number | null): string => (value === null ? "–" : gpus(value));

const entitledColumn: TeamColumn = {
  heading: "entitled",
  of: ({ entitled }) => amount(entitled),
  ofAll: ({ entitled }) => amount(entitled),
};

const deviationColumn: TeamColumn = {
  heading: "deviation",
  of: ({ deviation }) => (deviation === null ? "–" : signed(deviation)),
  ofAll: () => "",
};

function inStates(heading: string, ...wanted: readonly GpuState[]): TeamColumn {
  const text = ({ states }: Pick<TeamRow, "states">): string =>
    gpus(wanted.reduce((sum, state) => sum + (states[state] ?? 0), 0));
  return { heading, of: text, ofAll: text };
}

function costColumn(currency: string): TeamColumn {
  const text = ({ cost }: Pick<TeamRow, "cost">): string => costText(cost, currency);
  return { heading: "cost/h", of: text, ofAll: text };
}

/** Writes allocated GPUs: `16.0`, or `16.0~` where the device or the split of some of them is estimated. */
const allocatedText = ({ allocated, estimated }: TeamRow): string => `${gpus(allocated)}${estimated > 1e-9 ? "~" : ""}`;

/** Says what `~` means, as words that follow "of"; `null` where nothing is estimated. */
export function estimatedText({ all: { estimated, allocated } }: TeamRows): string | null {
  if (!(estimated > 1e-9)) return null;
  return `${gpus(allocated)} allocated GPUs, the device or its split is estimated for ${gpus(estimated)}`;
}

/** Writes what unallocated GPUs cost: `+ $ 268 not allocated`; `null` where that is nothing or not known. */
export function notAllocatedText({ notAllocatedPerHour, currency }: TeamRows): string | null {
  if (notAllocatedPerHour === null || currency === null) return null;
  return `+ ${money(notAllocatedPerHour, currency)} not allocated`;
}

const neverWords: Readonly<Record<NeverReason, string>> = {
  paused: "paused",
  "above-limit": "above limit",
  "no-node": "no node fits",
  "no-queue": "no queue",
  "limit-range": "refused by a LimitRange",
  elsewhere: "for another cluster",
  "no-scheduler": "no such scheduler",
  unschedulable: "unschedulable",
};

/** Writes what a team waits for: `16.0 for 42 min`, `8.0 (no node fits)`; `-` where nothing waits. */
function waitText(wait: TeamWait | null, hasAge: boolean): string {
  if (wait === null) return "-";
  const amount = wait.gpus > 0 ? `${gpus(wait.gpus)}${wait.isUnknown ? "+?" : ""}` : "unknown";
  if (wait.never !== null) return `${amount} (${neverWords[wait.never]})`;
  return wait.ageSeconds === null || !hasAge ? amount : `${amount} for ${duration(wait.ageSeconds)}`;
}
