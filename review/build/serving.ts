import type { LedgerTableRow } from "../../exporter/accounts/ledger/ledgerTableQuery.ts";
import type { Costs } from "../document/parts.ts";
import type { Review } from "../document/review.ts";
import type { Served } from "../document/serving.ts";
import { hoursOf } from "./hours.ts";
import { costsOfRows, maxRows, type Part, part, type ReviewAccounts, type ReviewQuestion } from "./source.ts";

/** The most workloads of the list. */
const shownServed = 20;

/** Asks what workloads that serve did; `null` where workloads of the window are not kept any more. */
export async function askServing(
  accounts: Pick<ReviewAccounts, "queryLedgerTable">,
  { cluster, days: { from, to }, team }: ReviewQuestion,
): Promise<Part<Review["serving"]>> {
  const where = new Map(team === null ? [] : [["team", [team]] as const]);
  const question = { of: "serving", from, to, where, limit: maxRows } as const;
  const done = await accounts.queryLedgerTable({ ...question, groupBy: ["workload", "team"] });
  if (!done.ok) return done.fault === "ledger" ? done : part(null);
  const paid = await accounts.queryLedgerTable({ ...question, groupBy: ["workload", "team", "currency"] });
  if (!paid.ok) return paid.fault === "ledger" ? paid : part(null);
  const paidBy = Map.groupBy(paid.answer.rows, keyOf);
  return part(sortedServed(done.answer.rows.map((row) => servedOf(cluster, row, paidBy.get(keyOf(row)) ?? []))));
}

const keyOf = ({ values: [workload, team] }: LedgerTableRow): string => JSON.stringify([workload, team]);

/** Sorts workloads that serve by their GPU time, and keeps those that took the most. */
export function sortedServed(all: readonly Served[]): Served[] {
  const nameOf = ({ cluster, kind, namespace, name, team }: Served) =>
    JSON.stringify([cluster, namespace, name, kind, team]);
  return all
    .toSorted((one, other) => other.gpuHours - one.gpuHours || (nameOf(one) < nameOf(other) ? -1 : 1))
    .slice(0, shownServed);
}

function servedOf(cluster: string, { values, amounts }: LedgerTableRow, paid: readonly LedgerTableRow[]): Served {
  const [workload, team] = values;
  const [kind = "", namespace = "", ...name] = (workload ?? "").split("/");
  const { promptTokens = null, generatedTokens = null } = amounts;
  const costs = costsOfRows(paid, 2);
  const isPriced = paid.every(
    ({ values: [, , currency], amounts: of }) => currency !== null || !((of.gpuSeconds ?? 0) > 0),
  );
  return {
    ...{ cluster, kind, namespace, name: name.join("/"), team: team ?? "" },
    requests: amounts.requests ?? 0,
    promptTokens,
    generatedTokens,
    gpuHours: hoursOf(amounts.gpuSeconds ?? 0),
    costs,
    tokensPerGpuHour: amounts.tokensPerGpuHour ?? null,
    costPerMillionTokens: isPriced && (generatedTokens ?? 0) > 0 ? perMillion(costs, generatedTokens ?? 0) : {},
  };
}

const perMillion = (costs: Costs, tokens: number): Costs =>
  Object.fromEntries(Object.entries(costs).map(([currency, cost]) => [currency, (cost / tokens) * 1e6]));
