import type { Days } from "../window.ts";
import { askTable, type Part, part, type ReviewAccounts } from "./source.ts";

/** One covered hour of a quota domain: means over its covered seconds, physical GPUs. */
export interface DomainHour {
  /** When the hour begins, seconds since the epoch. */
  readonly at: number;
  readonly seconds: number;
  readonly capacity: number;
  readonly allocated: number;
  readonly pending: number;
  /** Mean guarantee over the seconds in which it is known; `null` without any. */
  readonly guaranteed: number | null;
  readonly guaranteedSeconds: number;
}

/** Asks for the hours of all quota domains in a window, by domain and in order; hours that are not covered are left out. */
export async function askDomainHours(
  accounts: ReviewAccounts,
  window: Pick<Days, "from" | "to">,
): Promise<Part<ReadonlyMap<string, readonly DomainHour[]>>> {
  const asked = await askTable(accounts, window, "domains", ["hour", "domain"]);
  if (!asked.ok) return asked;
  const domains = new Map<string, DomainHour[]>();
  for (const { values, amounts } of asked.value) {
    const [hour = "", domain = ""] = [values[0] ?? "", values[1] ?? ""];
    const seconds = amounts.seconds ?? 0;
    if (!(seconds > 0)) continue;
    const hours = domains.get(domain) ?? [];
    domains.set(domain, hours);
    const guaranteed = amounts.guaranteed ?? null;
    const guaranteedSeconds = amounts.guaranteedSeconds ?? 0;
    hours.push({
      at: Date.parse(hour) / 1000,
      seconds,
      capacity: (amounts.capacity ?? 0) / seconds,
      allocated: (amounts.allocated ?? 0) / seconds,
      pending: (amounts.pending ?? 0) / seconds,
      guaranteed: guaranteed === null || !(guaranteedSeconds > 0) ? null : guaranteed / guaranteedSeconds,
      guaranteedSeconds,
    });
  }
  return part(domains);
}

/** Mean of an amount over the covered time of some hours; `null` where none of them is covered, or the amount is not known. */
export function meanOf(
  hours: readonly DomainHour[],
  of: (hour: DomainHour) => number | null,
  secondsOf = (hour: DomainHour): number => hour.seconds,
): number | null {
  let [sum, seconds] = [0, 0];
  for (const hour of hours) {
    const value = of(hour);
    if (value === null) continue;
    sum += value * secondsOf(hour);
    seconds += secondsOf(hour);
  }
  return seconds > 0 ? sum / seconds : null;
}

/** Mean guarantee over the time in which it is known. */
export const meanGuarantee = (hours: readonly DomainHour[]): number | null =>
  meanOf(
    hours,
    ({ guaranteed }) => guaranteed,
    ({ guaranteedSeconds }) => guaranteedSeconds,
  );
