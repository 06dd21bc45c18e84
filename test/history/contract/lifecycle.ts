import type { LedgerEntry } from "../../../exporter/accounts/ledger/ledger.ts";
import type { Account, Posting } from "../../../exporter/accounts/posting.ts";
import { account, entry, start } from "../../accounts/ledger/entries.ts";

/**
 * Three days of an exporter, known exactly: who had how many GPUs at each moment, when which process ran, what each counter
 * was at each scrape, and what a ledger would have counted.
 */
export const lifecycle = { from: start, to: start + 3 * 86_400 } as const;

export const cycleSeconds = 30;
export const scrapeSeconds = 30;
const hour = 3600;

/** Accounts with a price, and one without. */
export const accounts: readonly Account[] = [
  account({ state: "active", team: "a", queue: "train", pool: "h100", priorityClass: "high" }),
  account({ state: "idle", team: "a", queue: "train", pool: "h100", capacityType: "spot" }),
  account({ state: "active", team: "b (x|y)", queue: null, pool: "h100", currency: "EUR" }),
  account({ state: "gang_wait", team: "b (x|y)", queue: "b.q", pool: "a100" }),
  account({ state: "unavailable", team: "a", queue: "train", pool: "a100" }),
  account({ ...nobody(), state: "unavailable", pool: "a100" }),
  account({ ...nobody(), state: "free", pool: "h100", capacityType: null, currency: null }),
  account({ ...nobody(), state: "cordoned", pool: "a100" }),
];

function nobody(): Partial<Account> {
  return { team: null, queue: null, namespace: null, priorityClass: null };
}

/** GPUs of an account in the cycle that begins then: changes every ten minutes, and is nothing at some times. */
export function gpusOf(index: number, at: number): number {
  const mixed = (Math.floor(at / 600) * 7919 + index * 104_729) % 1009;
  return mixed % 5 === 0 ? 0 : (mixed % 8) + 0.5;
}

/** In the account's currency. */
export const pricePerGpuHour = (index: number): number => 1.5 + index;

/** One process of Fairlead: what the server knows it by, and when it had its first and its last cycle. */
export interface Process {
  readonly labels: Readonly<Record<string, string>>;
  readonly from: number;
  readonly to: number;
}

const pod = (name: string): Readonly<Record<string, string>> => ({
  job: "fairlead",
  instance: `${name}:10836`,
  pod: name,
});

/** A restart in place, a new pod five minutes later, and another hours later that overlaps by a minute. */
export const oneAfterTheOther: readonly Process[] = [
  { labels: pod("fairlead-1"), from: lifecycle.from + 60, to: lifecycle.from + 10 * hour },
  { labels: pod("fairlead-1"), from: lifecycle.from + 10 * hour + 90, to: lifecycle.from + 26 * hour },
  { labels: pod("fairlead-2"), from: lifecycle.from + 26 * hour + 300, to: lifecycle.from + 50 * hour },
  { labels: pod("fairlead-3"), from: lifecycle.from + 50 * hour - 60, to: lifecycle.to },
];

/** A second replica for all of the second day and half of the third, which restarts once. */
export const secondReplica: readonly Process[] = [
  { labels: pod("fairlead-r"), from: lifecycle.from + 24 * hour, to: lifecycle.from + 31 * hour },
  { labels: pod("fairlead-r"), from: lifecycle.from + 31 * hour + 60, to: lifecycle.from + 60 * hour },
];

/** Begins of all cycles that any of these processes counts, each moment once. */
export function accountedCycles(processes: readonly Process[]): readonly number[] {
  const cycles: number[] = [];
  for (let at = lifecycle.from; at < lifecycle.to; at += cycleSeconds) {
    if (processes.some(({ from, to }) => at >= from && at + cycleSeconds <= to)) cycles.push(at);
  }
  return cycles;
}

/** The same lifecycle as a ledger's entries, one for each cycle that was counted and one for each gap. */
export function ledgerEntries(): readonly LedgerEntry[] {
  const entries: LedgerEntry[] = [];
  let end: number | null = null;
  for (const at of accountedCycles(oneAfterTheOther)) {
    if (end !== null && at > end) entries.push(entry({ from: end, to: at, gap: "too-long" }));
    const postings = accounts.flatMap((of, index): Posting[] => {
      const gpuSeconds = gpusOf(index, at) * cycleSeconds;
      const cost = of.currency === null ? null : (gpuSeconds / hour) * pricePerGpuHour(index);
      const more = { estimatedGpuSeconds: 0, energyJoules: null, workload: null, cost };
      return gpuSeconds > 0 ? [{ hour: Math.floor(at / hour) * hour, account: of, gpuSeconds, ...more }] : [];
    });
    end = at + cycleSeconds;
    entries.push(entry({ from: at, to: end, postings }));
  }
  return entries;
}

/** One value of a series when it was scraped. */
export interface ScrapedValue {
  readonly metric: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly at: number;
  readonly value: number;
}

/** What a server scraped of these processes: series by series, in the order of time. */
export function scrapedValues(processes: readonly Process[]): readonly ScrapedValue[] {
  const values = new Map<string, ScrapedValue[]>();
  for (const [number, process] of processes.entries()) {
    const exposed = exposedBy(process);
    for (const series of exposed) values.set(series.key, values.get(series.key) ?? []);
    const gpuSeconds = accounts.map(() => 0);
    let covered = 0;
    const phase = 3 + 7 * (number % 4);
    let nextScrape = process.from + phase;
    for (let at = process.from; at <= process.to; at += cycleSeconds) {
      for (; nextScrape < at + cycleSeconds && nextScrape < process.to; nextScrape += scrapeSeconds) {
        for (const { metric, labels, key, amount } of exposed)
          values.get(key)?.push({ metric, labels, at: nextScrape, value: amount(gpuSeconds, covered) });
      }
      for (const [i] of accounts.entries()) gpuSeconds[i] = (gpuSeconds[i] ?? 0) + gpusOf(i, at) * cycleSeconds;
      covered += cycleSeconds;
    }
  }
  return [...values.values()].flatMap((series) => series.toSorted((one, other) => one.at - other.at));
}

/** A series of a process; its labels are one object, for all its values. */
interface ExposedSeries {
  readonly metric: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly key: string;
  readonly amount: (gpuSeconds: readonly number[], covered: number) => number;
}

function exposedBy({ labels: process }: Process): readonly ExposedSeries[] {
  const series: ExposedSeries[] = [];
  const note = (
    metric: string,
    own: Readonly<Record<string, string>>,
    amount: (gpuSeconds: readonly number[], covered: number) => number,
  ): void => {
    const given = { cluster: "harbor", ...own, ...process };
    const labels = Object.fromEntries(Object.entries(given).filter(([, text]) => text !== ""));
    series.push({ metric, labels, key: JSON.stringify([metric, labels]), amount });
  };
  note("fairlead_covered_seconds_total", {}, (_, covered) => covered);
  const unpriced = new Map<string, number[]>();
  for (const [i, of] of accounts.entries()) {
    const labels = {
      state: of.state,
      team: of.team ?? "",
      queue: of.queue ?? "",
      pool: of.pool,
      capacity_type: of.capacityType ?? "unknown",
      priority_class: of.priorityClass ?? "",
    };
    note("fairlead_gpu_seconds_total", labels, (gpuSeconds) => gpuSeconds[i] ?? 0);
    if (of.currency === null) unpriced.set(of.pool, [...(unpriced.get(of.pool) ?? []), i]);
    else
      note("fairlead_cost_total", { ...labels, currency: of.currency }, (gpuSeconds) => {
        return ((gpuSeconds[i] ?? 0) / hour) * pricePerGpuHour(i);
      });
  }
  for (const [pool, places] of unpriced)
    note("fairlead_unpriced_gpu_seconds_total", { pool }, (gpuSeconds) =>
      places.reduce((sum, i) => sum + (gpuSeconds[i] ?? 0), 0),
    );
  return series;
}
