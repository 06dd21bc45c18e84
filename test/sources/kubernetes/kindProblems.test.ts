import { expect, it } from "vitest";
import { slowAnswers } from "../../../exporter/sources/kubernetes/kindProblems.ts";
import { byKind, type WatchedKindName, watchedKindNames } from "../../../exporter/sources/kubernetes/kinds.ts";

/** Seconds of the slowest answer by kind; all others answered in a tenth. */
function saidOf(seconds: Partial<Record<WatchedKindName, number>>) {
  const statuses = byKind((kind) => ({
    state: "synced" as const,
    since: 0,
    lastError: null,
    ageSeconds: 0,
    resourceVersion: "1",
    lists: 1,
    watches: 1,
    restarts: { closed: 0, broken: 0, silent: 0, expired: 0, malformed: 0, "token-expired": 0 },
    answerSeconds: seconds[kind] ?? 0.1,
    malformedMessages: 0,
    skippedObjects: 0,
    problems: [],
  }));
  return slowAnswers(watchedKindNames, statuses, 5).map(({ code, message }) => [code, message] as const);
}

it("names the slowest kind with its seconds, and how many are slow", () => {
  expect(saidOf({ pods: 7.26, nodes: 12, resourceClaims: 5 })).toEqual([
    [
      "api-slow",
      `The Kubernetes API takes 12.0 s to answer for nodes; 2 of ${watchedKindNames.length} kinds wait longer than 5 s.`,
    ],
  ]);
});

it("says nothing of answers within the limit", () => {
  expect(saidOf({ pods: 5 })).toEqual([]);
});
