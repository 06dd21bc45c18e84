import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Analysis } from "../../../exporter/analysis/analysis.ts";
import { judgeFairness } from "../../../exporter/analysis/fairness/judgeFairness.ts";
import { defaultConfig } from "../../../exporter/config/defaults.ts";
import type { QueueView } from "../../../exporter/join/queues/queueing.ts";
import type { EntitlementLevel } from "../../../exporter/publish/explain/entitlementSchema.ts";
import { explain } from "../../../exporter/publish/explain/explain.ts";
import type { ExplainedKind } from "../../../exporter/publish/explain/kinds.ts";
import { type Explanation, explanationSchema } from "../../../exporter/publish/explain/schema.ts";
import { explanationText } from "../../../exporter/publish/terminal/explanation.ts";
import { entriesOf } from "../../analysis/entriesOf.ts";
import { type GeneratedTree, termsOf, trees } from "../../analysis/fairness/generatedTrees.ts";
import { quotaDomain } from "../../queues/queueView.ts";
import { hostileNames } from "../moment.ts";
import { queue, queueMoment } from "../queueMoment.ts";

function explanationOf(analysis: Analysis, kind: ExplainedKind, name: string): Explanation {
  const result = explain(kind, name, { analysis, settings: defaultConfig, problems: [], accountedTime: null });
  if (!result.ok) throw new Error(result.error);
  return result.explanation;
}

/** Adds a level up as a reader would: what is there, less what is taken, is what the next `=` says; shares are their line. */
function checkSums({ lines }: EntitlementLevel): void {
  let left = 0;
  const own = lines.find(({ sign }) => sign === ">");
  for (const { sign, name, gpus, shares } of lines) {
    if (sign === "") left = gpus;
    if (sign === "-") left -= gpus;
    if (sign === ">" && !lines.some((one) => one.shares.length > 0)) left -= gpus;
    if (sign === "=") expect(left, name).toBeCloseTo(gpus, 6);
    if (shares.length > 0)
      expect(
        shares.reduce((sum, share) => sum + share.gpus, 0),
        name,
      ).toBeCloseTo(gpus, 6);
  }
  const taken = lines.flatMap(({ sign, shares }) => (sign === "-" ? shares.slice(0, 1) : []));
  if (taken.length > 0 && own !== undefined) {
    const mine = taken.filter(({ queue: name }) => name === own.name).reduce((sum, share) => sum + share.gpus, 0);
    expect(mine).toBeCloseTo(own.gpus, 6);
  }
}

describe("an explanation of a queue", () => {
  const search = explanationOf(queueMoment, "queue", "search");

  test("is what its schema says, and explains every queue of that name", () => {
    expect(explanationSchema.parse(JSON.parse(JSON.stringify(search)))).toEqual(search);
    expect(
      search.entitlements.map((one) => [one.domain, one.path, one.entitled, one.allocated, one.deviation]),
    ).toEqual([
      ["H100", ["ml-org"], 47, 31, -16],
      ["A100", [], 4, 4, 0],
    ]);
  });

  test("goes from the capacity of the domain down to the queue, and adds up", () => {
    const [onH100] = search.entitlements;
    expect(onH100?.levels.map(({ divides }) => divides)).toEqual(["domain H100", "all of Kueue", "ml-org"]);
    for (const level of search.entitlements.flatMap(({ levels }) => levels)) checkSums(level);
    const lines = onH100?.levels[2]?.lines ?? [];
    expect(lines.map(({ sign, name, gpus }) => `${sign} ${name} ${gpus}`)).toEqual([
      " given to ml-org 96",
      "- guarantees 56",
      "= left to share 40",
      "- by weight 40",
      "= nobody can use 0",
      "> search 47",
    ]);
    expect(lines[3]?.shares.map((share) => [share.queue, share.gpus, share.note])).toEqual([
      ["search", 23, "weight 2, its demand is met"],
      ["ads", 17, "weight 1, could use 41.0"],
      ["vision", 0, "weight 1, its demand is met"],
    ]);
  });

  test("says who has what it misses, and the borrower who misses what it has", () => {
    expect(search.entitlements[0]?.missing).toEqual([{ queue: "ads", gpus: 16 }]);
    expect(explanationOf(queueMoment, "queue", "ads").entitlements[0]?.owed).toEqual([{ queue: "search", gpus: 16 }]);
  });

  test("names every GPU that the queue, or the cohort, holds", () => {
    const allocated = (name: string) =>
      explanationOf(queueMoment, "queue", name).parts.reduce((sum, part) => sum + part.gpus, 0);
    expect(allocated("search")).toBe(35);
    expect(allocated("ads")).toBe(49);
    expect(allocated("ml-org")).toBe(96);
    expect(allocated("unqueued")).toBe(2);
  });

  test("what is not known is said to be unknown, with the reason", () => {
    const bulk = explanationOf(queueMoment, "queue", "bulk");
    expect(bulk.entitlements[0]).toMatchObject({
      entitled: null,
      deviation: null,
      levels: [],
      unknownBecause: "its nodes cut GPUs differently",
    });
    expect(explanationText(bulk)).toContain("entitled to unknown, holds 1.0");
  });

  test("what waits is named with its cause, the paused too", () => {
    const text = explanationText(explanationOf(queueMoment, "queue", "ml-org"));
    expect(text).toContain(
      "Job search/rank-big: 16.0 GPUs in 2 pods, for 42 min, cause quota; the scheduler: insufficient",
    );
    expect(text).toContain("Job vision/held-back: 8.0 GPUs in 1 pod, for 1 d, never as things are: paused by someone");
    expect(text).toContain("Job ads/odd: unknown GPUs in 1 pod, since when is unknown");
  });

  test("has a golden text", async () => {
    const text = explanationText({ ...search, parts: search.parts.slice(0, 1) });
    await expect(`${text}\n`).toMatchFileSnapshot("../../golden/explain-queue.txt");
  });

  test("of a name that is not there says what is near", () => {
    const result = explain("queue", "serach", {
      analysis: queueMoment,
      settings: defaultConfig,
      problems: [],
      accountedTime: null,
    });
    expect(result).toMatchObject({
      ok: false,
      error: 'there is no queue "serach"',
      nextStep: 'Did you mean "search"?',
    });
  });

  test("of a team says what it is entitled to, and through which queue", () => {
    const facts = explanationOf(queueMoment, "team", "search").facts.filter(({ name }) => name === "entitled");
    expect(facts.map(({ value }) => value)).toEqual(["47.0 GPUs", "4.0 GPUs"]);
    expect(facts[0]?.how).toContain("in domain H100, where it holds 31.0: deviation -16.0; through search");
    const waits = explanationOf(queueMoment, "team", "search").facts.find(({ name }) => name === "waits for");
    expect(waits).toMatchObject({ value: "16.0 GPUs", how: "16.0 Job search/rank-big (quota)" });
    expect(explanationOf(queueMoment, "team", "stray").parts).toEqual([]);
    expect(explanationOf(queueMoment, "team", "bulk").facts).toContainEqual({
      name: "entitled",
      value: "unknown",
      how: "in domain L4: its nodes cut GPUs differently",
    });
  });
});

/** Generated trees as the queues of one domain, below one root; names are hostile, or numbers. */
function momentOf(views: readonly QueueView[], capacity: number): Analysis {
  const queueing = {
    ...queueMoment.snapshot.queueing,
    domains: [quotaDomain({ capacity })],
    queues: views,
    gangs: [],
    queueOfPod: new Int32Array(0),
  };
  return {
    ...queueMoment,
    snapshot: { ...queueMoment.snapshot, queueing, pods: [], devices: [] },
    accountingEntries: entriesOf([]),
    fairness: judgeFairness(queueing, null),
  };
}

/** The tree as queues; of each leaf's demand the part `parts` is allocated, as far as there is capacity. */
function treeMoment({ nodes, capacity }: GeneratedTree, parts: readonly number[]): Analysis {
  const below = (parent: number | null) => nodes.flatMap((node, i) => (node.parent === parent ? [i + 1] : []));
  const root = queue({ kind: "Scheduler", name: "kueue", isLeaf: false, children: below(null) });
  let left = capacity;
  const views = nodes.map((node, i) => {
    const children = below(i);
    const allocated = children.length > 0 ? 0 : Math.min(left, node.demand * (parts[i % parts.length] ?? 0));
    left -= allocated;
    return queue({
      name: hostileNames[i + 3] ?? `queue-${i}`,
      parent: node.parent === null ? 0 : node.parent + 1,
      children,
      isLeaf: children.length === 0,
      ...termsOf(node),
      allocated,
      pending: children.length > 0 ? 0 : node.demand - allocated,
    });
  });
  return momentOf([root, ...views], capacity);
}

describe("in any tree", () => {
  test("the printed parts add up, for every queue, within 100 columns", () => {
    fc.assert(
      fc.property(
        trees(),
        fc.array(fc.constantFrom(0, 0.25, 0.5, 1), { minLength: 1, maxLength: 9 }),
        (tree, parts) => {
          const analysis = treeMoment(tree, parts);
          for (const [index, { name, kind }] of analysis.snapshot.queueing.queues.entries()) {
            if (kind === "Scheduler" || name === "") continue;
            const explanation = explanationOf(analysis, "queue", name);
            expect(explanationSchema.safeParse(explanation).error).toBeUndefined();
            const [one] = explanation.entitlements;
            for (const level of one?.levels ?? []) checkSums(level);
            const last = one?.levels.at(-1)?.lines.find(({ sign }) => sign === ">");
            expect(last?.gpus).toBeCloseTo(analysis.fairness.queues[index]?.entitled ?? Number.NaN, 6);
            const text = explanationText(explanation);
            for (const line of text.split("\n")) expect(line.length, line).toBeLessThanOrEqual(100);
            expect(text).not.toContain("\u001b");
          }
        },
      ),
      { seed: 20_261_121, numRuns: 200 },
    );
  });
});
