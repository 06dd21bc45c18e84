import { expect } from "vitest";
import type { Problem } from "../../../exporter/model/problem.ts";
import { latest, sum } from "../accounting.ts";
import type { ExpectedProblem, FaultPhase } from "../faultCases.ts";
import { sumOnPage } from "./metricsOnPage.ts";
import type { WatchedCluster } from "./watchedCluster.ts";

/** Everything that the pages and the numbers must say at the end of a phase; `pageBefore`: the metrics before the fault. */
export async function expectPhase(watched: WatchedCluster, phase: FaultPhase, pageBefore: string): Promise<void> {
  const { cluster } = watched;
  expect(cluster.stack.cycle.health().cycles.failed).toBe(0);
  expectNumbers(watched, phase);
  const problems = cluster.stack.problems();
  expectProblems(problems, phase.problems);
  const start = await watched.get("/");
  expectOnStartPage(start.text, problems, phase.problems);
  const page = (await watched.get("/metrics")).text;
  expectMetrics(page, problems, phase, pageBefore);
  expect((await watched.get("/readyz")).status).toBe(200);
  expect((await watched.get("/livez")).status).toBe(200);
}

/** Numbers that a fault leaves unknown. */
const unknowable = {
  all: /^$/,
  layouts: /^GPUs allocated to notebooks$/,
  holders: / in queue /,
  physicalGpus: /^GPUs allocated to | in queue /,
};

/** Numbers are compared with the truth also during the fault, as far as it leaves them knowable. */
function expectNumbers({ cluster, differences }: WatchedCluster, phase: FaultPhase): void {
  const analysis = latest(cluster);
  expect(sum(analysis.pools.map((pool) => pool.physicalGpus))).toBeCloseTo(176, 6);
  expect(differences().filter(({ what }) => !unknowable[phase.truth].test(what))).toEqual([]);
  for (const { node, state, gpus } of phase.states ?? []) {
    const accountingEntries = analysis.accountingEntries.list.filter(
      (accountingEntry) => accountingEntry.node === node && accountingEntry.state === state,
    );
    expect(sum(accountingEntries.map((accountingEntry) => accountingEntry.gpus)), `${state} on ${node}`).toBeCloseTo(
      gpus,
      6,
    );
  }
}

function expectProblems(problems: readonly Problem[], expected: readonly ExpectedProblem[]): void {
  const codes = (all: readonly { readonly code: string }[]): string[] =>
    [...new Set(all.map(({ code }) => code))].sort();
  expect(codes(problems)).toEqual(codes(expected));
  for (const { code, subject } of problems)
    expect(
      expected.some((one) => one.code === code && (one.subjects === undefined || one.subjects.includes(subject))),
      `${code} of ${subject} is expected`,
    ).toBe(true);
  for (const { code, subjects, says, next } of expected) {
    const isMeant = (problem: Problem): boolean =>
      problem.code === code && (subjects === undefined || subjects.includes(problem.subject));
    const named = problems.filter(isMeant);
    const found = new Set(named.map(({ subject }) => subject));
    if (subjects !== undefined) expect(found, `subjects of ${code}`).toEqual(new Set(subjects));
    expect(named.map(({ message }) => message).join("\n")).toContain(says);
    for (const problem of named) expect(problem.nextStep.slice(0, next.length), `next step of ${code}`).toBe(next);
  }
}

function expectOnStartPage(html: string, problems: readonly Problem[], expected: readonly ExpectedProblem[]): void {
  if (problems.length === 0) expect(html).toContain("None.");
  for (const { says, next } of expected) {
    expect(html).toContain(escaped(says));
    expect(withoutLinks(html)).toContain(`Next: ${escaped(next)}`);
  }
  for (const { nextStep } of problems) expect(withoutLinks(html)).toContain(`Next: ${escaped(nextStep)}`);
}

function expectMetrics(page: string, problems: readonly Problem[], phase: FaultPhase, before: string): void {
  for (const { code } of phase.problems)
    expect(sumOnPage(page, `fairlead_problems{code="${code}"}`), `fairlead_problems of ${code}`).toBe(
      problems.filter((problem) => problem.code === code).length,
    );
  if (phase.problems.length === 0) expect(sumOnPage(page, "fairlead_problems")).toBeNull();
  for (const [selector, value] of Object.entries(phase.series ?? {})) {
    const found = sumOnPage(page, selector);
    if (value === null) expect(found, `${selector} is absent`).toBeNull();
    else expect(found, selector).toBeCloseTo(value, 6);
  }
  for (const selector of phase.grown ?? [])
    expect(sumOnPage(page, selector) ?? 0, `${selector} has grown`).toBeGreaterThan(sumOnPage(before, selector) ?? 0);
  for (const reason of ["clock-jump", "stale-objects", "too-long"]) {
    const selector = `fairlead_uncovered_seconds_total{reason="${reason}"}`;
    if (phase.grown?.includes(selector) === true) continue;
    expect(sumOnPage(page, selector), `${selector} is still`).toBe(sumOnPage(before, selector));
  }
}

function escaped(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;")
    .replaceAll("'", "&#39;");
}

/** A page whose names are text again. */
const withoutLinks = (html: string): string => html.replace(/<\/?a\b[^>]*>/g, "");
