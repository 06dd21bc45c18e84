import { expect } from "vitest";
import type { FaultCase } from "../faultCases.ts";
import { sumOnPage } from "./metricsOnPage.ts";
import type { LogLine } from "./watchedCluster.ts";

/** What was logged from the fault's begin to its end: one line per begin and end of each problem, none per cycle. */
export function expectLog(each: FaultCase, lines: readonly LogLine[]): void {
  const reported = lines.filter(({ fields }) => typeof fields.problem === "string");
  const keys = new Set(reported.map(({ fields }) => String(fields.problem)));
  for (const key of keys) {
    const levels = reported.filter(({ fields }) => fields.problem === key).map(({ level }) => level);
    const wanted = Array.from({ length: each.times ?? 1 }, () => ["warn", "info"]).flat();
    // What is said about single pods and nodes may come and go with them.
    const isFixed = [each.early, each.late].some(({ problems }) =>
      problems.some(({ code, subjects }) => subjects?.some((subject) => key === keyOf(code, subject)) === true),
    );
    if (isFixed) expect(levels, `lines of ${key}`).toEqual(wanted);
    else expect(levels.length % 2, `lines of ${key} begin and end`).toBe(0);
  }
  for (const { problems } of [each.early, each.late])
    for (const { code, subjects } of problems)
      for (const subject of subjects ?? []) expect(keys, `log of ${code}`).toContain(keyOf(code, subject));
  for (const { message } of lines) expect(message).not.toMatch(/\p{Cc}/u);
}

/** A kind's changes of state are one line each, without a gap, and end where all is well. */
export function expectStateLines(lines: readonly LogLine[]): void {
  const states = new Map<string, string>();
  for (const { fields, level } of lines) {
    if (typeof fields.from !== "string" || typeof fields.to !== "string") continue;
    const kind = String(fields.kind);
    expect(fields.from, `${kind} goes on from where it was`).toBe(states.get(kind) ?? "synced");
    expect(fields.to).not.toBe(fields.from);
    expect(level).toBe(fields.to === "synced" ? "info" : "warn");
    states.set(kind, fields.to);
  }
  for (const [kind, state] of states) expect(state, `${kind} at the end`).toBe("synced");
}

/** Each restart of a watch is one line with its reason, and is counted by kind and reason. */
export function expectRestartLines(lines: readonly LogLine[], before: string, after: string): void {
  const restarts = lines.filter(({ fields }) => typeof fields.reason === "string");
  const counts = new Map<string, number>();
  for (const { fields } of restarts) {
    const key = `{resource="${String(fields.kind).toLowerCase()}",reason="${String(fields.reason)}"}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  for (const [key, count] of counts) {
    const selector = `fairlead_kubernetes_restarts_total${key}`;
    expect((sumOnPage(after, selector) ?? 0) - (sumOnPage(before, selector) ?? 0), selector).toBe(count);
  }
  const all = "fairlead_kubernetes_restarts_total";
  expect((sumOnPage(after, all) ?? 0) - (sumOnPage(before, all) ?? 0)).toBe(restarts.length);
}

const keyOf = (code: string, subject: string | null): string => (subject === null ? code : `${code} ${subject}`);
