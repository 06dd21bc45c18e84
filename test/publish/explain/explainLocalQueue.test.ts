import { describe, expect, test } from "vitest";
import type { Analysis } from "../../../exporter/analysis/analysis.ts";
import { defaultConfig } from "../../../exporter/config/defaults.ts";
import { buildDocument } from "../../../exporter/publish/document/buildDocument.ts";
import { documentSchema } from "../../../exporter/publish/document/schema.ts";
import { explain } from "../../../exporter/publish/explain/explain.ts";
import { type Explanation, explanationSchema } from "../../../exporter/publish/explain/schema.ts";
import { explanationText } from "../../../exporter/publish/terminal/explanation.ts";
import {
  analysedLocal,
  byUsage,
  consumed,
  type LocalCluster,
  usageSettings,
} from "../../analysis/localQueues/localCluster.ts";
import { hostileNames } from "../moment.ts";

function explainedQueue(analysis: Analysis, name: string): Explanation {
  const found = explain("queue", name, { analysis, settings: defaultConfig, problems: [], accountedTime: null });
  if (!found.ok) throw new Error(found.error);
  return found.explanation;
}

/** The sentences about the only LocalQueue that is found. */
function sentencesOf(cluster: LocalCluster, name: string): readonly string[] {
  const { localQueues } = explainedQueue(analysedLocal(cluster), name);
  expect(localQueues).toHaveLength(1);
  return localQueues[0]?.sentences ?? [];
}

/** `b` has all 12 GPUs; `a`, of twice its weight, waits for as many. */
const taken: LocalCluster = {
  gpus: 12,
  locals: { "a/main": { weight: 2, ...consumed(10) }, "b/main": consumed(100) },
  running: [{ name: "b-run", local: "b/main", gpus: 12 }],
  waiting: [
    { name: "a-next", local: "a/main", gpus: 12 },
    { name: "b-next", local: "b/main", gpus: 2, priority: 9 },
  ],
};
const weighed: LocalCluster = { ...taken, queue: byUsage, settings: usageSettings };

describe("an explanation of a LocalQueue", () => {
  test("is found by the name that users know: in every namespace that has one, or in one", () => {
    const analysis = analysedLocal(taken);
    const names = (name: string) =>
      explainedQueue(analysis, name).localQueues.map((one) => `${one.namespace}/${one.name}`);
    expect(names("main")).toEqual(["a/main", "b/main"]);
    expect(names("b/main")).toEqual(["b/main"]);
  });

  test("is what its schema says, and its ClusterQueue follows, once", () => {
    const both = explainedQueue(analysedLocal(taken), "main");
    expect(explanationSchema.parse(JSON.parse(JSON.stringify(both)))).toEqual(both);
    expect(both.entitlements.map(({ kind, name, allocated }) => [kind, name, allocated])).toEqual([
      ["ClusterQueue", "shared", 12],
    ]);
  });

  test("names the GPUs that came through it, and no others of its ClusterQueue", () => {
    const analysis = analysedLocal(taken);
    const allocated = (name: string) => explainedQueue(analysis, name).parts.reduce((sum, { gpus }) => sum + gpus, 0);
    expect([allocated("a/main"), allocated("b/main"), allocated("shared")]).toEqual([0, 12, 12]);
  });

  test("says by weight what is its share, who has it, and that Kueue takes nothing back", () => {
    const [whose, weight, usage, share, line, , change] = sentencesOf(weighed, "a/main");
    expect(whose).toBe("LocalQueue a/main belongs to ClusterQueue shared.");
    expect(weight).toContain("admits by usage: its LocalQueues share its GPUs by weight, and it has weight 2 of 3.");
    expect(usage).toContain("a usage of 5 for each unit of its weight");
    expect(share).toContain(
      "it holds 0.0 GPUs and waits for 12.0. ClusterQueue shared is entitled to 12.0 there, and of these it is entitled to 8.0: its share by weight",
    );
    expect(line).toContain("at place 1 of 2 in the line of ClusterQueue shared: nothing is before it.");
    expect(change).toContain("It misses 8.0 GPUs of its share, and LocalQueue b/main holds 8.0 more than its own.");
    expect(change).toContain("that work has to end");
  });

  test("says that others come before one above its share", () => {
    const sentences = sentencesOf(weighed, "b/main");
    expect(sentences.join(" ")).toContain("before it is Workload a/a-next (12.0 GPUs) of LocalQueue a/main.");
    expect(sentences.at(-1)).toMatch(/^It holds 8\.0 GPUs more than its share already:/);
  });

  test("says why a weight is not used, and the line that is left", () => {
    const [, weight, share, line, rule, change] = sentencesOf(taken, "a/main");
    expect(weight).toBe(
      "Its weight of 2 is not used: ClusterQueue shared does not admit by usage, so that its LocalQueues are served in one line, by priority and then by age.",
    );
    expect(share).toContain("it is entitled to 0.0: nothing is left when the line is served in its order.");
    expect(line).toContain(
      "at place 2 of 2 in the line of ClusterQueue shared: before it is Workload b/b-next (2.0 GPUs) of LocalQueue b/main.",
    );
    expect(rule).toContain("as Fairlead computes it");
    expect(change).toContain("other work of it has to end");
    expect(change).toContain("Kueue ends none of it for this (spec.preemption.withinClusterQueue is Never)");
    expect(change).toContain("The gang before it is tried first, and passed over where it does not fit");
  });

  test("of a strict queue says that the gang before it stops it", () => {
    expect(sentencesOf({ ...taken, queue: { queueingStrategy: "StrictFIFO" } }, "a/main").at(-1)).toContain(
      "The gang before it must start or be withdrawn first, for its ClusterQueue is StrictFIFO",
    );
  });

  test.each<[string, Partial<LocalCluster>, string]>([
    ["nothing waits", { waiting: [] }, "Nothing would have to change: none of its work waits."],
    [
      "it is stopped",
      { locals: { "a/main": { stopPolicy: "Hold" } } },
      "set spec.stopPolicy of LocalQueue a/main to None",
    ],
    [
      "its ClusterQueue is stopped",
      { queue: { stopPolicy: "Hold" } },
      "set spec.stopPolicy of ClusterQueue shared to None",
    ],
    [
      "its work is larger than the quota",
      { nominal: 4, running: [], waiting: [{ name: "huge", local: "a/main", gpus: 8 }] },
      "it has to ask for fewer GPUs, or ClusterQueue shared needs more quota",
    ],
    [
      "its work is paused",
      { waiting: [{ name: "off", local: "a/main", gpus: 1, parts: { active: false } }] },
      "whoever paused it has to release it",
    ],
    ["its ClusterQueue is not there", { locals: { "a/main": { clusterQueue: "gone" } } }, "create ClusterQueue gone"],
  ])("ends with what would have to change where %s", (_, parts, change) => {
    expect(sentencesOf({ ...taken, ...parts }, "a/main").at(-1)).toContain(change);
  });

  test("does not claim a place that nobody knows", () => {
    const sentences = sentencesOf({ ...taken, queue: byUsage }, "a/main").join(" ");
    expect(sentences).toContain("is not known, because usage decides it and is not known of every LocalQueue.");
    expect(sentences).not.toContain("at place");
  });

  test("of a name that is near says which one is", () => {
    const asked = { analysis: analysedLocal(taken), settings: defaultConfig, problems: [], accountedTime: null };
    expect(explain("queue", "a/mian", asked)).toMatchObject({ ok: false, nextStep: 'Did you mean "a/main"?' });
  });

  test("a ClusterQueue's own explanation names no LocalQueue of another name", () => {
    const { localQueues, entitlements } = explainedQueue(analysedLocal(taken), "shared");
    expect([localQueues, entitlements.length]).toEqual([[], 1]);
  });

  test.each(hostileNames.map((name) => [name.slice(0, 20), name]))(
    "fits 100 columns whatever the name is: %j",
    (_, name) => {
      const local = `n/${name.replaceAll("/", "")}`;
      const hostile = analysedLocal({
        ...weighed,
        locals: { [local]: {}, "b/main": {} },
        waiting: [{ name, local, gpus: 4 }],
      });
      const text = explanationText(explainedQueue(hostile, local));
      for (const line of text.split("\n")) expect(line.length, line).toBeLessThanOrEqual(100);
      for (const control of ["\u001b", "\u0000"]) expect(text).not.toContain(control);
    },
  );
});

describe("the document", () => {
  const document = buildDocument(analysedLocal(weighed));

  test("is what its schema says", () => {
    expect(documentSchema.parse(JSON.parse(JSON.stringify(document)))).toEqual(document);
  });

  test("has LocalQueues with weight, usage and what they are entitled to", () => {
    expect(document.localQueues).toMatchObject([
      {
        namespace: "a",
        name: "main",
        clusterQueue: "shared",
        domain: "H100-80GB-HBM3",
        servedBy: "usage",
        weight: 2,
        weightIsUsed: true,
      },
      { namespace: "b", name: "main", allocated: 12, pending: 2, entitled: 4, deviation: 8, usage: 100 },
    ]);
    expect(document.localQueues[0]).toMatchObject({ usage: 5, allocated: 0, pending: 12, entitled: 8, deviation: -8 });
  });

  test("says where work is in line; nothing of work in no line, and of usage that is not known", () => {
    const places = (cluster: LocalCluster) =>
      Object.fromEntries(
        buildDocument(analysedLocal(cluster)).pending.map((one) => [
          one.name,
          [one.position, one.positionInLocalQueue],
        ]),
      );
    expect(places(weighed)).toEqual({ "a-next": [1, 1], "b-next": [2, 1] });
    expect(places(taken)).toEqual({ "b-next": [1, 1], "a-next": [2, 1] });
    expect(places({ ...taken, queue: byUsage })).toEqual({ "a-next": [null, 1], "b-next": [null, 1] });
    const paused = [{ name: "off", local: "a/main", gpus: 1, parts: { active: false } }];
    expect(places({ ...taken, waiting: paused })).toEqual({ off: [null, null] });
  });
});
