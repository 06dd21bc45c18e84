import { describe, expect, it } from "vitest";
import { findChangeQuota } from "../../../exporter/advice/kinds/changeQuota.ts";
import type { AdviceMoment } from "../../../exporter/advice/moment.ts";
import { nothingWatched } from "../../../exporter/advice/usage/usageWatch.ts";
import { defaultConfig } from "../../../exporter/config/defaults.ts";
import { noQueueObjects } from "../../../exporter/model/queues/queueObjects.ts";
import { kaiPodGroup, kaiQueue } from "../../analysis/queueObjectBuilder.ts";
import { gpuNode, gpuPod, now } from "../../join/clusterBuilder.ts";
import { analysed, snapshotOf } from "../../join/outcomes.ts";
import { foundBy, gainsOf, type KueueCase, kueueMoment, onlyCandidate } from "./kueueCluster.ts";

const found = (given: KueueCase) => foundBy(findChangeQuota, kueueMoment(given));
const hour = 3600;

/** Search holds the 8 that it may hold and waits for 8 more; a node is free. */
const short: KueueCase = {
  nodes: { a: 8, b: 8 },
  queues: [
    { name: "search", nominal: 8, quota: { borrowingLimit: 0 } },
    { name: "ads", nominal: 8 },
  ],
  running: [{ name: "own", queue: "search", nodes: ["a"], gpusPerPod: 8 }],
  waiting: [{ name: "more", queue: "search", pods: 1, gpusPerPod: 8 }],
};

describe("a queue that is short of quota alone", () => {
  it("is given a higher limit, by what fits and no more", () => {
    const moment = kueueMoment(short);
    const candidate = onlyCandidate(foundBy(findChangeQuota, moment));
    expect(candidate).toMatchObject({
      kind: "change_quota",
      title: "raise the limit of search from 8 to 16 H100-80GB-HBM3: 8 GPUs of waiting work fit now",
      targets: ["ClusterQueue search"],
      disrupted: [],
      signs: [
        { kind: "quota-changed", queue: "kueue/ClusterQueue/search/H100-80GB-HBM3", field: "limit", from: 8, to: 16 },
      ],
    });
    expect(gainsOf(moment, candidate)).toEqual({ mostAllocated: 8, leastAllocated: 8 });
    expect(JSON.stringify(candidate.steps[0]?.request.body)).toContain("borrowingLimit");
  });

  it("is given quota where its cohort has no more to lend", () => {
    const queues = [
      { name: "search", nominal: 8 },
      { name: "ads", nominal: 0 },
    ];
    const candidate = onlyCandidate(found({ ...short, queues }));
    expect(candidate.title).toBe(
      "raise the quota of search from 8 to 16 H100-80GB-HBM3: 8 GPUs of waiting work fit now",
    );
    expect(JSON.stringify(candidate.steps[0]?.request.body)).toContain("nominalQuota");
  });

  it("is given quota where it is in no cohort", () => {
    const queues = [{ name: "search", nominal: 8, parts: { cohort: null } }];
    expect(onlyCandidate(found({ ...short, queues })).title).toContain("raise the quota of search from 8 to 16");
  });

  it("is given as much as serves the first of its gangs, where not all fit", () => {
    const waiting = [
      { name: "first", queue: "search", pods: 1, gpusPerPod: 4 },
      { name: "second", queue: "search", pods: 1, gpusPerPod: 8 },
    ];
    expect(onlyCandidate(found({ ...short, waiting })).title).toContain("from 8 to 12");
  });
});

describe("nothing is raised", () => {
  it("where GPUs are what is missing", () => {
    expect(found({ ...short, nodes: { a: 8 } })).toEqual({ candidates: [], withheld: [] });
  });

  it("where the free GPUs lie so that the work does not fit", () => {
    const nodes = { a: 8, b: 4, c: 4 };
    expect(found({ ...short, nodes })).toEqual({ candidates: [], withheld: [] });
  });

  it("where the free GPUs are owed to another queue", () => {
    const waiting = [...(short.waiting ?? []), { name: "theirs", queue: "ads", pods: 1, gpusPerPod: 8 }];
    expect(found({ ...short, waiting })).toEqual({ candidates: [], withheld: [] });
  });

  it("where nothing waits", () => {
    expect(found({ ...short, waiting: [] })).toEqual({ candidates: [], withheld: [] });
  });
});

describe("quota that no cohort lends", () => {
  const alone = { cohort: null };
  const split: KueueCase = {
    nodes: { a: 8 },
    queues: [
      { name: "research", nominal: 4, parts: alone },
      { name: "serving", nominal: 4, parts: alone },
    ],
    running: [{ name: "train", queue: "research", nodes: ["a"], gpusPerPod: 4 }],
    waiting: [{ name: "more", queue: "research", pods: 1, gpusPerPod: 2 }],
  };

  it("is said to be what would start the work: more of its own would be promised twice", () => {
    const { candidates, withheld } = found(split);
    expect(candidates).toEqual([]);
    expect(withheld).toMatchObject([{ kind: "change_quota", subject: "research", why: "no-plan" }]);
    expect(withheld[0]?.reason).toBe(
      "2 H100-80GB-HBM3 of its work waits for quota and would fit, but a higher nominalQuota of research alone would promise more than the 8 H100-80GB-HBM3 that are there. It starts in one cohort (spec.cohortName) with serving, whose quota is unused, or where nominalQuota is moved from there.",
    );
  });

  it("is not asked for where the quota of the queue itself can be raised", () => {
    expect(onlyCandidate(found({ ...split, nodes: { a: 10 } })).title).toContain(
      "raise the quota of research from 4 to 6",
    );
  });
});

describe("a queue of KAI that is short of its limit", () => {
  const limited = (parent: number, leaf: number): AdviceMoment => {
    const amounts = (limit: number) => ({ quota: 0, overQuotaWeight: 1, limit });
    const pods = [gpuPod("v-0", null, 4, { annotations: { "pod-group-name": "v" }, schedulerName: "kai-scheduler" })];
    const kaiQueues = [
      kaiQueue("all", { gpu: amounts(parent) }),
      kaiQueue("vision", { parent: "all", gpu: amounts(leaf) }),
    ];
    const queues = { ...noQueueObjects, kaiQueues, kaiPodGroups: [kaiPodGroup("v", { queue: "vision" })] };
    const analysis = analysed(snapshotOf({ nodes: [gpuNode("a", 8)], pods, queues }));
    return { analysis, settings: defaultConfig.advice, usage: nothingWatched };
  };

  it.each([
    ["its own", -1, 2, ["Queue vision"]],
    ["its own and that of the queue above", 2, 2, ["Queue vision", "Queue all"]],
    ["that of the queue above", 2, -1, ["Queue all"]],
  ])("has %s raised", (_, parent, leaf, targets) => {
    const moment = limited(parent, leaf);
    const candidate = onlyCandidate(foundBy(findChangeQuota, moment));
    expect(candidate.targets).toEqual(targets);
    expect(candidate.title).toContain("from 2 to 4");
    expect(gainsOf(moment, candidate)).toEqual({ mostAllocated: 4, leastAllocated: 4 });
  });
});

/** Ads keeps its 8 to itself; the cohort's quota is all that there is. */
describe("quota that is kept and not used", () => {
  const kept: KueueCase = {
    ...short,
    queues: [
      { name: "search", nominal: 8 },
      { name: "ads", nominal: 8, quota: { lendingLimit: 0 } },
    ],
  };
  const watched = (hours: number, peakDemand: number): KueueCase => ({
    ...kept,
    usage: {
      workloads: new Map(),
      queues: new Map([["kueue/ClusterQueue/ads/H100-80GB-HBM3", { since: now - hours * hour, peakDemand }]]),
    },
  });

  it("is preferred to more quota than there are GPUs", () => {
    const moment = kueueMoment(watched(24, 0));
    const candidate = onlyCandidate(foundBy(findChangeQuota, moment));
    expect(candidate.title).toBe("move a quota of 8 H100-80GB-HBM3 from ads to search: 8 GPUs of waiting work fit now");
    expect(candidate.targets).toEqual(["ClusterQueue ads", "ClusterQueue search"]);
    expect(gainsOf(moment, candidate)).toEqual({ mostAllocated: 8, leastAllocated: 8 });
  });

  it.each([
    ["was watched for too short", watched(1, 0)],
    ["was used", watched(24, 4)],
    ["was never watched", kept],
  ])("stays where it is if it %s", (_, given) => {
    const { candidates, withheld } = found(given);
    expect(candidates.map(({ targets }) => targets)).not.toContainEqual(["ClusterQueue ads", "ClusterQueue search"]);
    expect(candidates.length + withheld.length).toBe(1);
  });
});
