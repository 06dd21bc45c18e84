import { describe, expect, it } from "vitest";
import type { Found } from "../../../exporter/advice/candidate.ts";
import { findRightSize } from "../../../exporter/advice/kinds/rightSize.ts";
import { createTrial } from "../../../exporter/advice/whatIf/trial.ts";
import type { ClusterState, OwnerObject } from "../../../exporter/model/cluster.ts";
import { account, listed } from "../../analysis/prices/priceBuilder.ts";
import { gpuNode, gpuPod, now, owner, ownerRef } from "../../join/clusterBuilder.ts";
import { deployment, pageAt, physicalGpu, podOf, replicaSet, watchedMoment } from "../usage/watchedCluster.ts";

const train = deployment("train");

interface Case {
  readonly hours?: number;
  /** Activity of the four GPUs of each pod, by pod. */
  readonly activity?: readonly (readonly number[])[];
  readonly of?: OwnerObject;
  readonly labels?: Record<string, string>;
  readonly more?: Partial<ClusterState>;
}

/** Pods of four GPUs each, on a node each. */
function stateAt(
  { activity = [[0.9, 0, 0, 0]], of = train, labels = {}, more = {} }: Case,
  at: number,
): Partial<ClusterState> {
  return {
    nodes: activity.map((_, i) => gpuNode(`n${i}`, 4)),
    owners: of === train ? [train, replicaSet(train)] : [of],
    pods: activity.map((_, i) =>
      of === train
        ? podOf(of, `train-${i}`, `n${i}`, 4, { labels })
        : gpuPod(`train-${i}`, `n${i}`, 4, { owner: ownerRef(of), labels }),
    ),
    telemetry: activity.map((physicalGpus, i) =>
      pageAt(
        `n${i}`,
        physicalGpus.map((busy, k) => physicalGpu(`GPU-${i}-${k}`, busy, `train-${i}`)),
        at,
      ),
    ),
    ...more,
  };
}

function found(given: Case): Found {
  const moment = watchedMoment((at) => stateAt(given, at), given.hours);
  return findRightSize(moment, createTrial(moment));
}

describe("a workload that asks for more than it uses", () => {
  it("asks for what its busiest pod has ever used", () => {
    const activity = [
      [0.9, 0, 0, 0],
      [0.9, 0.2, 0, 0.01],
    ];
    const { candidates, withheld } = found({ activity, more: { prices: account([listed()]) } });
    expect(withheld).toEqual([]);
    expect(candidates).toHaveLength(1);
    expect(candidates[0]).toMatchObject({
      title: "ask team research whether 2 instead of 4 H100-80GB-HBM3 are enough for each pod of research/train",
      beneficiary: { kind: "team", name: "research" },
      plan: { changes: [{ kind: "shrink", workload: 0, gpusPerPod: 2 }], starts: [] },
      disrupted: [0, 1],
      unused: [
        { node: "n0", gpus: 2 },
        { node: "n1", gpus: 2 },
      ],
      signs: [{ kind: "request-changed", workload: "Deployment/research/train", gpusPerPod: 2 }],
      measuredBy: { kind: "work-released", work: ["Deployment/research/train"], gpus: 8 },
    });
    expect(candidates[0]?.evidence).toContainEqual({ name: "watched for", value: "12 h" });
    expect(candidates[0]?.steps[0]?.request.path).toBe("/apis/apps/v1/namespaces/research/deployments/train");
  });

  it("gives back in the trial what it does not use", () => {
    const given: Case = {};
    const moment = watchedMoment((at) => stateAt(given, at));
    const trial = createTrial(moment);
    const [candidate] = findRightSize(moment, trial).candidates;
    expect(candidate).toBeDefined();
    if (candidate !== undefined) expect(candidate.gainedGpus(trial.outcome(candidate.plan, "mostAllocated"))).toBe(3);
  });

  it("is given the number where it cannot be changed while it runs", () => {
    const job = owner("Job", "train", null, { apiVersion: "batch/v1" });
    const { candidates, withheld } = found({ of: job });
    expect(candidates).toEqual([]);
    expect(withheld).toHaveLength(1);
    expect(withheld[0]).toMatchObject({ kind: "right_size", subject: "research/train", why: "no-plan" });
    expect(withheld[0]?.reason).toContain("3 GPUs of its 4 did nothing for 12 h, 1 for each pod would be enough");
  });

  it("is given the hint that fewer pods may do where one of them uses all", () => {
    const { candidates, withheld } = found({
      activity: [
        [0.5, 0.5, 0.5, 0.5],
        [0, 0, 0, 0],
      ],
    });
    expect(candidates).toEqual([]);
    expect(withheld[0]?.reason).toContain("fewer pods may do");
  });
});

describe("nothing is said about a workload", () => {
  it("whose larger pods use all they have, because what its pods with one GPU use is not watched", () => {
    const stateOf = (at: number): Partial<ClusterState> => ({
      nodes: [gpuNode("n0", 4)],
      owners: [train, replicaSet(train)],
      pods: [podOf(train, "large", "n0", 2), podOf(train, "one", "n0", 1), podOf(train, "other", "n0", 1)],
      telemetry: [
        pageAt(
          "n0",
          ["large", "large", "one", "other"].map((pod, i) => physicalGpu(`GPU-${i}`, 0.9, pod)),
          at,
        ),
      ],
    });
    const moment = watchedMoment(stateOf);
    expect(findRightSize(moment, createTrial(moment))).toEqual({ candidates: [], withheld: [] });
  });

  const rows: readonly (readonly [what: string, given: Case])[] = [
    ["that uses all it has", { activity: [[0.5, 0.2, 0.1, 0.06]] }],
    ["that uses nothing: it is idle, not too large", { activity: [[0, 0, 0, 0]] }],
    ["that was not watched for long", { hours: 11 }],
    ["that serves and was watched for half a day", { labels: { "fairlead.dev/workload-class": "serving" } }],
    ["that asked to be left alone", { labels: { "fairlead.dev/idle-opt-out": "true" } }],
    ["that has a GPU which is not observed", { more: { telemetry: [] } }],
  ];
  it.each(rows)("%s", (_what, given) => {
    expect(found(given)).toEqual({ candidates: [], withheld: [] });
  });

  it("that used its other GPUs once, hours ago", () => {
    const before = (at: number): Case => (at < now - 11 * 3600 ? { activity: [[0.5, 0.5, 0.5, 0.5]] } : {});
    const moment = watchedMoment((at) => stateAt(before(at), at));
    expect(findRightSize(moment, createTrial(moment))).toEqual({ candidates: [], withheld: [] });
  });
});

it("serving work is asked for less after a day", () => {
  const labels = { "fairlead.dev/workload-class": "serving" };
  expect(found({ labels, hours: 24 }).candidates).toHaveLength(1);
});
