import type { Analysis } from "../analysis/analysis.ts";
import type { AccountedMoment } from "./accountedMoment.ts";
import type { Account } from "./posting.ts";

/** Accounts in the order in which they get series of their own: those with the most GPUs first. */
export function largestFirst(accounts: readonly Account[], { lines, gpus }: AccountedMoment): readonly Account[] {
  if (accounts.length === 0) return [];
  const sums = new Map<Account, number>(accounts.map((account) => [account, 0] as const));
  for (const [i, { account }] of lines.entries()) {
    const sum = sums.get(account);
    if (sum !== undefined) sums.set(account, sum + (gpus[i] ?? 0));
  }
  const ranked = [...sums].map(([account, sum]) => ({ account, sum, name: JSON.stringify(account) }));
  return ranked.sort((a, b) => b.sum - a.sum || (a.name < b.name ? -1 : 1)).map(({ account }) => account);
}

/** Of the accounts that are `wanted`, by index, those with a device that reports energy or power. */
export function meteredAccounts(
  { accountingEntries, snapshot }: Analysis,
  { lines, accounts, lineOf, activeLineOf, underutilizedLineOf }: AccountedMoment,
  wanted: boolean[],
): readonly Account[] {
  const found: Account[] = [];
  const indexOf = (line: number | undefined): number => lines[line ?? -1]?.accountIndex ?? -1;
  if (!wanted.includes(true)) return found;
  for (let i = 0; i < accountingEntries.length; i++) {
    const indices = [indexOf(lineOf[i]), indexOf(activeLineOf[i]), indexOf(underutilizedLineOf[i])];
    if (!indices.some((index) => wanted[index] === true)) continue;
    const reading = snapshot.devices[accountingEntries[i]?.device ?? -1]?.reading;
    if (reading == null || (reading.energyJoules === null && reading.powerWatts === null)) continue;
    for (const index of indices) {
      const account = accounts[index];
      if (account === undefined || wanted[index] !== true) continue;
      wanted[index] = false;
      found.push(account);
    }
  }
  return found;
}
