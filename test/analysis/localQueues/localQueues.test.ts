import { describe, expect, test } from "vitest";
import { findLocalQueues } from "../../../exporter/analysis/localQueues/findLocalQueues.ts";
import { now } from "../../join/clusterBuilder.ts";
import { condition } from "../../queues/kueueRows.ts";
import { analysedKueue, modelNode } from "../fairness/constructedCluster.ts";
import {
  analysedLocal,
  byUsage,
  consumed,
  type LocalCluster,
  lineOf,
  localQueuesOf,
  sharesOf,
  usageSettings,
} from "./localCluster.ts";

/** One team has all 12 GPUs, the other waits for as many. */
const taken: LocalCluster = {
  gpus: 12,
  locals: { "a/main": { weight: 2, ...consumed(100) }, "b/main": consumed(100) },
  running: [{ name: "b-run", local: "b/main", gpus: 12 }],
  waiting: [{ name: "a-next", local: "a/main", gpus: 12 }],
};

describe("what a ClusterQueue is entitled to is divided among its LocalQueues", () => {
  test("by weight where it admits by usage: two thirds and one third", () => {
    expect(sharesOf(analysedLocal({ ...taken, queue: byUsage, settings: usageSettings }))).toEqual({
      "a/main": "0/12/8/-8",
      "b/main": "12/0/4/8",
    });
  });

  test("by weight also where Kueue's Configuration was not read: the ClusterQueue says so", () => {
    expect(sharesOf(analysedLocal({ ...taken, queue: byUsage }))["a/main"]).toBe("0/12/8/-8");
  });

  test.each<[string, Partial<LocalCluster>]>([
    ["the ClusterQueue does not admit by usage", { settings: usageSettings }],
    [
      "Kueue's Configuration sets up none of it",
      { queue: byUsage, settings: { ...usageSettings, admissionFairSharing: null } },
    ],
    [
      "Kueue forgets all usage at once",
      {
        queue: byUsage,
        settings: {
          fairSharing: false,
          admissionFairSharing: { halfLifeSeconds: 0, samplingIntervalSeconds: 300, resourceWeights: {} },
        },
      },
    ],
  ])("weights are no claim where %s: what is allocated stays", (_, parts) => {
    expect(sharesOf(analysedLocal({ ...taken, ...parts }))).toEqual({ "a/main": "0/12/0/0", "b/main": "12/0/12/0" });
  });

  test("nobody is given more than it can use: the rest is the others'", () => {
    const few = { ...taken, waiting: [{ name: "a-next", local: "a/main", gpus: 3 }] };
    expect(sharesOf(analysedLocal({ ...few, queue: byUsage }))).toEqual({ "a/main": "0/3/3/-3", "b/main": "12/0/9/3" });
  });

  test("without a weight it gets what the others leave", () => {
    const none: LocalCluster = {
      gpus: 12,
      queue: byUsage,
      locals: { "a/main": { weight: 0 }, "b/main": {} },
      running: [{ name: "b-run", local: "b/main", gpus: 4 }],
      waiting: [
        { name: "a-next", local: "a/main", gpus: 12 },
        { name: "b-next", local: "b/main", gpus: 2 },
      ],
    };
    expect(sharesOf(analysedLocal(none))).toEqual({ "a/main": "0/12/6/-6", "b/main": "4/2/6/-2" });
  });

  test("without weights in order: what is allocated stays, then priority, then age, while it lasts", () => {
    const line: LocalCluster = {
      gpus: 12,
      locals: { "a/main": {}, "b/main": {}, "c/main": {} },
      running: [{ name: "c-run", local: "c/main", gpus: 2 }],
      waiting: [
        { name: "b-old", local: "b/main", gpus: 8, ageSeconds: 7200 },
        { name: "a-high", local: "a/main", gpus: 4, priority: 10, ageSeconds: 60 },
        { name: "c-young", local: "c/main", gpus: 4, ageSeconds: 600 },
      ],
    };
    expect(sharesOf(analysedLocal(line))).toEqual({
      "a/main": "0/4/4/-4",
      "b/main": "0/8/6/-6",
      "c/main": "2/4/2/0",
    });
  });

  test("a LocalQueue through which nothing came is reported with nothing, not left out", () => {
    expect(sharesOf(analysedLocal({ gpus: 8, locals: { "a/main": {} } }))).toEqual({ "a/main": "0/0/0/0" });
  });

  test("work whose LocalQueue nothing names is a row of its own, without weight and usage", () => {
    const analysis = analysedKueue({
      nodes: [modelNode("n1", 8, "H100")],
      flavors: { h100: {} },
      queues: { q: { quotas: { h100: 8 } } },
      running: [{ name: "run", queue: "q", flavor: "h100", node: "n1", gpus: 3 }],
      waiting: [{ name: "next", queue: "q", gpus: 2 }],
    });
    expect(localQueuesOf(analysis).shares).toMatchObject([
      { namespace: "q", name: "main", weight: 1, allocated: 0, pending: 2, entitled: 2 },
      { namespace: null, name: null, weight: null, usage: null, allocated: 3, pending: 0, entitled: 3, deviation: 0 },
    ]);
  });

  test("what no device shows is not lost: it is in that row", () => {
    const { snapshot, fairness } = analysedLocal(taken);
    const { shares } = findLocalQueues({ ...snapshot, devices: [] }, fairness);
    expect(shares.map(({ name, allocated }) => [name, allocated])).toEqual([
      ["main", 0],
      ["main", 0],
      [null, 12],
    ]);
  });

  test("a LocalQueue whose ClusterQueue is not there holds nothing here, and what it is entitled to is unknown", () => {
    const { shares } = localQueuesOf(analysedLocal({ gpus: 8, locals: { "a/main": { clusterQueue: "gone" } } }));
    expect(shares).toEqual([
      {
        namespace: "a",
        name: "main",
        clusterQueue: "gone",
        queue: null,
        weight: 1,
        usage: null,
        allocated: 0,
        pending: 0,
        entitled: null,
        deviation: null,
      },
    ]);
  });

  test("work that could never run is no demand, and that which has its quota comes first", () => {
    const mixed: LocalCluster = {
      gpus: 8,
      locals: { "a/main": {}, "b/main": {} },
      waiting: [
        { name: "a-huge", local: "a/main", gpus: 64, priority: 100 },
        { name: "a-high", local: "a/main", gpus: 8, priority: 50 },
        {
          name: "b-reserved",
          local: "b/main",
          gpus: 8,
          parts: {
            conditions: [condition("QuotaReserved", true)],
            admission: { clusterQueue: "shared", assignments: [] },
          },
        },
      ],
    };
    expect(sharesOf(analysedLocal(mixed))).toEqual({ "a/main": "0/8/0/0", "b/main": "0/8/8/-8" });
  });
});

describe("the line of a ClusterQueue", () => {
  const waiting = [
    { name: "a1", local: "a/main", gpus: 1, ageSeconds: 300 },
    { name: "a2", local: "a/main", gpus: 1, ageSeconds: 200, priority: 5 },
    { name: "b1", local: "b/main", gpus: 1, ageSeconds: 400 },
    { name: "b2", local: "b/other", gpus: 1, ageSeconds: 100 },
  ];
  const locals = { "a/main": consumed(30), "b/main": consumed(40), "b/other": { weight: 10, ...consumed(100) } };
  const full = { gpus: 8, locals, waiting, running: [{ name: "run", local: "b/main", gpus: 8 }] };

  test("goes by priority, then by age, whatever was used", () => {
    expect(lineOf(analysedLocal({ ...full, settings: usageSettings }))).toEqual([
      "a2 1 1",
      "b1 2 1",
      "a1 3 2",
      "b2 4 1",
    ]);
  });

  test("goes by usage for the weight first where it admits by usage: 100 / 10, then 30, then 40", () => {
    const analysis = analysedLocal({ ...full, queue: byUsage, settings: usageSettings });
    expect(lineOf(analysis)).toEqual(["b2 1 1", "a2 2 1", "a1 3 2", "b1 4 1"]);
    expect(localQueuesOf(analysis).shares.map(({ usage }) => usage)).toEqual([30, 40, 10]);
  });

  test("a LocalQueue without weight comes last", () => {
    const none = { ...locals, "b/other": { weight: 0, ...consumed(0) } };
    expect(lineOf(analysedLocal({ ...full, locals: none, queue: byUsage, settings: usageSettings })).at(-1)).toBe(
      "b2 4 1",
    );
  });

  test("is not known where the usage is not, but each LocalQueue's own order is", () => {
    expect(lineOf(analysedLocal({ ...full, queue: byUsage })).toSorted()).toEqual([
      "a1 unknown 2",
      "a2 unknown 1",
      "b1 unknown 1",
      "b2 unknown 1",
    ]);
  });

  test("is Kueue's own where it reported it; what has come since follows by the rule, and what is gone leaves no gap", () => {
    const reported = { shared: ["a/a1", "b/gone", "b/b2"], other: ["a/a2"] };
    for (const queue of [{}, byUsage]) {
      const analysis = analysedLocal({ ...full, queue, reported });
      expect(lineOf(analysis)).toEqual(["a1 1 1", "b2 2 1", "a2 3 2", "b1 4 1"]);
      expect(localQueuesOf(analysis).reportedByKueue).toEqual(new Set(["shared"]));
    }
    expect(localQueuesOf(analysedLocal(full)).reportedByKueue).toEqual(new Set());
  });

  test("of one LocalQueue alone needs no usage", () => {
    const one = { ...full, waiting: waiting.slice(0, 2), queue: byUsage };
    expect(lineOf(analysedLocal(one))).toEqual(["a2 1 1", "a1 2 2"]);
  });

  test("holds no work that has quota, is paused, or is in no queue", () => {
    const aside = [
      { ...waiting[0], name: "paused", local: "a/main", gpus: 1, parts: { active: false } },
      { ...waiting[0], name: "lost", local: "a/none", gpus: 1 },
      {
        ...waiting[0],
        name: "reserved",
        local: "a/main",
        gpus: 1,
        parts: {
          conditions: [condition("QuotaReserved", true)],
          admission: { clusterQueue: "shared", assignments: [] },
        },
      },
    ];
    expect(lineOf(analysedLocal({ ...full, waiting: [...aside, ...waiting] }))).toEqual([
      "a2 1 1",
      "b1 2 1",
      "a1 3 2",
      "b2 4 1",
    ]);
  });

  test("keeps the place of work that was preempted, and puts behind what was not ready in time", () => {
    const evicted = (reason: string) => ({
      conditions: [
        condition("Evicted", true, { reason, changedAt: now - 150 }),
        condition("Requeued", true, { changedAt: now - 140 }),
      ],
    });
    const back = (reason: string) =>
      waiting.map((one) => (one.name === "b1" ? { ...one, parts: evicted(reason) } : one));
    expect(lineOf(analysedLocal({ ...full, waiting: back("Preempted") }))[1]).toBe("b1 2 1");
    for (const reason of ["PodsReadyTimeout", "AdmissionCheck"])
      expect(lineOf(analysedLocal({ ...full, waiting: back(reason) })).slice(1)).toEqual([
        "a1 2 2",
        "b1 3 1",
        "b2 4 1",
      ]);
  });

  test("of the same second goes by uid, as Kueue's own", () => {
    const same = ["z", "m", "k"].map((name, i) => ({
      name,
      local: "a/main",
      gpus: 1,
      ageSeconds: 100,
      parts: { uid: `uid-${i}` },
    }));
    expect(lineOf(analysedLocal({ ...full, waiting: same }))).toEqual(["z 1 1", "m 2 2", "k 3 3"]);
  });
});
