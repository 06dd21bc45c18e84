import type { Account } from "../../../exporter/accounts/posting.ts";
import type { TotalsDimension, TotalsQuestion } from "../../../exporter/history/history.ts";
import { isoDay } from "../../../exporter/kernel/isoTime.ts";
import {
  accountedCycles,
  accounts,
  cycleSeconds,
  gpusOf,
  type Process,
  pricePerGpuHour,
  scrapeSeconds,
} from "./lifecycle.ts";

/** What a group really had. */
export interface TrueGroup {
  gpuSeconds: number;
  readonly costs: Map<string, number>;
  unpricedGpuSeconds: number;
  /** GPU-seconds that a server may not see, or guess wrongly, because it scrapes only now and then: a minute's worth at each end. */
  unseen: number;
}

export interface Truth {
  readonly groups: ReadonlyMap<string, TrueGroup>;
  readonly coveredSeconds: number;
  /** Seconds that a server may not see. */
  readonly unseenSeconds: number;
}

/** Counts cycle by cycle, with nothing clever in it. */
export function truthOf(question: TotalsQuestion, processes: readonly Process[]): Truth {
  const { from, to } = question;
  const groups = new Map<string, TrueGroup>();
  let coveredSeconds = 0;
  const ends = endsWithin(from, to, processes);
  for (const at of accountedCycles(processes)) {
    const isInside = at >= from && at < to;
    const isAtEnd = ends.some((end) => Math.abs(at + cycleSeconds / 2 - end) <= scrapeSeconds / 2 + cycleSeconds);
    if (isInside) coveredSeconds += cycleSeconds;
    if (isInside || isAtEnd) addCycle(groups, question, at, isInside, isAtEnd);
  }
  return { groups, coveredSeconds, unseenSeconds: ends.length * scrapeSeconds };
}

function addCycle(
  groups: Map<string, TrueGroup>,
  { by, where }: TotalsQuestion,
  at: number,
  isInside: boolean,
  isAtEnd: boolean,
): void {
  for (const [index, account] of accounts.entries()) {
    const gpuSeconds = gpusOf(index, at) * cycleSeconds;
    if (gpuSeconds === 0 || !isChosen(account, where)) continue;
    const key = JSON.stringify(by.map((dimension) => textOf(account, dimension, at)));
    const group = groups.get(key) ?? { gpuSeconds: 0, costs: new Map(), unpricedGpuSeconds: 0, unseen: 0 };
    groups.set(key, group);
    if (isAtEnd) group.unseen += gpuSeconds;
    if (!isInside) continue;
    group.gpuSeconds += gpuSeconds;
    const { currency } = account;
    if (currency === null) group.unpricedGpuSeconds += gpuSeconds;
    else group.costs.set(currency, (group.costs.get(currency) ?? 0) + (gpuSeconds / 3600) * pricePerGpuHour(index));
  }
}

/** Ends of the window and of the processes in it: at each, a server may miss a scrape's worth. */
function endsWithin(from: number, to: number, processes: readonly Process[]): readonly number[] {
  const ends = processes.flatMap((process) => [process.from, process.to]);
  return [from, to, ...ends.filter((at) => at > from && at < to)];
}

function isChosen(account: Account, where: TotalsQuestion["where"]): boolean {
  const names = ["state", "team", "queue", "pool", "capacityType", "priorityClass"] as const;
  return names.every((name) => where[name]?.includes(account[name] ?? "") ?? true);
}

function textOf(account: Account, dimension: TotalsDimension, at: number): string {
  return dimension === "day" ? isoDay(at) : (account[dimension] ?? "");
}
