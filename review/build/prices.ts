import type { PriceRow } from "../../exporter/accounts/ledger/priceQuery.ts";
import { isoTime } from "../../exporter/kernel/isoTime.ts";
import type { UsedPrices } from "../document/head.ts";
import { type Part, part, type ReviewAccounts, type ReviewQuestion } from "./source.ts";

const maxPrices = 100_000;

/** Asks at which prices the window was counted, by where they come from and what they stand for. */
export async function askPrices(
  accounts: ReviewAccounts,
  { days, cluster }: ReviewQuestion,
): Promise<Part<UsedPrices[]>> {
  const asked = await accounts.queryPrices({ from: days.from, to: days.to, where: new Map(), limit: maxPrices });
  if (!asked.ok) return asked;
  const priced = asked.answer.rows.filter(({ perGpuHour }) => perGpuHour !== null);
  const groups = Map.groupBy(priced, ({ source, basis, currency }) => JSON.stringify([source, basis, currency]));
  return part([...groups.values()].map((rows) => usedPrices(cluster, rows)).sort(byName));
}

function byName(one: UsedPrices, other: UsedPrices): number {
  const [a, b] = [one, other].map(({ source, currency, basis }) => JSON.stringify([source, currency, basis]));
  return (a ?? "") < (b ?? "") ? -1 : 1;
}

function usedPrices(cluster: string, rows: readonly PriceRow[]): UsedPrices {
  const dates = rows.map(({ dated }) => dated);
  const known = dates.filter((date) => date !== null);
  const isDated = known.length === dates.length && known.length > 0;
  const [first] = rows;
  return {
    cluster,
    source: first?.source ?? "",
    basis: first?.basis ?? "",
    currency: first?.currency ?? "",
    datedFrom: isDated ? isoTime(known.reduce((least, date) => Math.min(least, date))) : null,
    datedTo: isDated ? isoTime(known.reduce((most, date) => Math.max(most, date))) : null,
    pools: [...new Set(rows.map(({ pool }) => pool ?? ""))].sort(),
  };
}
