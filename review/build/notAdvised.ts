import type { WithheldTime } from "../../exporter/accounts/ledger/withheld.ts";
import type { IdleNodePool, NotAdvised } from "../document/waste.ts";
import { hoursOf } from "./hours.ts";
import { type Part, part, type ReviewAccounts, type ReviewQuestion } from "./source.ts";
import { sumCosts } from "./sumCosts.ts";

/** The most reasons that a review lists. */
export const shownReasons = 10;
const maxReasons = 10_000;

/** What was not advised, and why. */
export interface NotAdvisedList {
  readonly notAdvised: NotAdvised[];
  readonly notAdvisedLeftOut: number;
}

/** Asks what was looked at and not advised in the window; each need has the reason that lasted longest. */
export async function askNotAdvised(
  accounts: ReviewAccounts,
  { cluster, days }: ReviewQuestion,
  idle: readonly IdleNodePool[],
): Promise<Part<NotAdvisedList>> {
  const asked = await accounts.queryWithheld({ from: days.from, to: days.to, limit: maxReasons });
  if (!asked.ok) return asked;
  const needs = Map.groupBy(asked.answer.rows, ({ kind, subject }) => JSON.stringify([kind, subject]));
  const rows = [...needs.values()].flatMap((reasons) => {
    const [longest, ...others] = reasons.toSorted((one, other) => other.seconds - one.seconds);
    return longest === undefined ? [] : [rowOf(cluster, longest, others.length, idle)];
  });
  const advised = await accounts.queryAdvice({ from: days.from, to: days.to, limit: maxReasons });
  if (!advised.ok) return advised;
  const known = new Set([
    ...rows.filter(({ kind }) => kind === "scale_in").map(({ subject }) => subject),
    ...advised.answer.rows.flatMap(({ kind, detail }) => (kind === "scale_in" ? (detail?.beneficiary ?? []) : [])),
  ]);
  return part(notAdvisedOf([...rows, ...withoutReason(cluster, idle, known)], 0));
}

/** Node pools with idle nodes that cost something, for which nothing was advised and no reason was kept. */
function withoutReason(
  cluster: string,
  idle: readonly IdleNodePool[],
  known: ReadonlySet<string>,
): readonly NotAdvised[] {
  const paid = idle.filter(
    ({ state, costs }) => state === "idle_unallocated" && Object.values(costs).some((cost) => cost > 0),
  );
  const names = new Set(paid.map(({ nodePool }) => nodePool || "unknown"));
  return [...names]
    .filter((name) => !known.has(name))
    .map((name) =>
      rowOf(cluster, { kind: "scale_in", subject: name, why: "no-plan", reason: notKept, seconds: 0 }, 0, idle),
    );
}

const notKept = "its nodes were idle only for short times, or why nothing was advised has not been kept";

/**
 * Keeps the reasons that a page shows, those with the most money beside them first; `leftOut` is how many were left out before.
 */
export function notAdvisedOf(rows: readonly NotAdvised[], leftOut: number): NotAdvisedList {
  const sorted = rows.toSorted(
    (one, other) =>
      most(other) - most(one) ||
      other.hours - one.hours ||
      (`${one.kind} ${one.subject}` < `${other.kind} ${other.subject}` ? -1 : 1),
  );
  return {
    notAdvised: sorted.slice(0, shownReasons),
    notAdvisedLeftOut: leftOut + Math.max(0, sorted.length - shownReasons),
  };
}

/**
 * The largest amount among the currencies, for the order. Amounts of several currencies are not added up; a reason with a cost
 * comes before one without.
 */
const most = ({ costs }: NotAdvised): number => Math.max(0, ...Object.values(costs));

function rowOf(
  cluster: string,
  { kind, subject, reason, seconds }: WithheldTime,
  otherReasons: number,
  idle: readonly IdleNodePool[],
): NotAdvised {
  const own = idle.filter(({ nodePool, state }) => state === "idle_unallocated" && (nodePool || "unknown") === subject);
  return {
    cluster,
    kind,
    subject: subject.slice(0, 300),
    reason: reason.slice(0, 500),
    hours: hoursOf(seconds),
    otherReasons,
    costs: kind === "scale_in" ? sumCosts(own.map(({ costs }) => costs)) : {},
  };
}
