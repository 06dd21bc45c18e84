import { describe, expect, it } from "vitest";
import { boostPriority } from "../../../exporter/advice/steps/kueueSteps.ts";
import { noQueueing } from "../../../exporter/join/queues/queueing.ts";
import type { KueueWorkload } from "../../../exporter/model/queues/kueue.ts";
import { noQueueObjects } from "../../../exporter/model/queues/queueObjects.ts";
import { clusterQueue, workload } from "../../queues/kueueRows.ts";
import { gangView, quotaDomain } from "../../queues/queueView.ts";
import { momentOf, reasonOf, sent, stepsOf } from "./stepMoment.ts";

/** A gang that waits with its Workload. */
function waiting(parts: Partial<KueueWorkload> = {}, apiVersion = "kueue.x-k8s.io/v1beta2", scheduler = "kueue") {
  const revision = { apiVersion, uid: "q", generation: 1 };
  const gang = gangView({
    scheduler: scheduler === "kueue" ? "kueue" : "volcano",
    uid: "uid-job-train-1",
    reservedAt: null,
  });
  return momentOf({
    queueing: { ...noQueueing, domains: [quotaDomain()], gangs: [gang], queueOfPod: new Int32Array([0]) },
    queueObjects: {
      ...noQueueObjects,
      kueueClusterQueues: [clusterQueue("q", [], { revision })],
      kueueWorkloads: [workload("job-train-1", [], parts)],
    },
  });
}

const path = "/apis/kueue.x-k8s.io/v1beta2/namespaces/research/workloads/job-train-1";
const name = "kueue.x-k8s.io/priority-boost";

describe("boosting the priority of a Workload", () => {
  it("annotates this very Workload, and takes the annotation off again", () => {
    const found = boostPriority(waiting(), 0, 1);
    expect(sent(found)).toEqual([
      ["PATCH", path, { metadata: { uid: "uid-job-train-1", annotations: { [name]: "1" } } }],
      ["PATCH", path, { metadata: { uid: "uid-job-train-1", annotations: { [name]: null } } }],
    ]);
    const [on, off] = stepsOf(found);
    expect(on?.precondition).toContain("feature gate PriorityBoost (alpha, off by default)");
    expect(on?.precondition).toContain("what it needs is still free");
    expect(on?.waitFor).toContain("take the boost off");
    expect(off?.precondition).toContain("it is admitted, or was not within a minute");
    expect(on?.dryRun).toContain("--dry-run=server");
  });

  it("lowers a priority by a negative boost", () => {
    expect(sent(boostPriority(waiting(), 0, -5))[0]?.[2]).toMatchObject({
      metadata: { annotations: { [name]: "-5" } },
    });
  });

  it("speaks the version in which Kueue's objects were read", () => {
    expect(sent(boostPriority(waiting({}, "kueue.x-k8s.io/v1beta1"), 0, 1))[0]?.[1]).toContain("/v1beta1/");
  });

  it.each([
    [
      "who has its quota already",
      waiting({ admission: { clusterQueue: "q", assignments: [] } }),
      0,
      1,
      "quota already",
    ],
    ["who is boosted by someone", waiting({ priority: 3, priorityBoost: 3 }), 0, 1, "boosts the priority"],
    ["what other schedulers run", waiting({}, undefined, "volcano"), 0, 1, "no Workload of Kueue"],
    ["a Workload that is not known", waiting({ uid: "another" }), 0, 1, "no Workload of Kueue"],
    ["a gang that is not there", waiting(), 7, 1, "no Workload of Kueue"],
    ["a name that no object can have", waiting({ name: "../pods" }), 0, 1, "a name in it"],
    ["a boost of nothing", waiting(), 0, 0, "whole number"],
    ["half a step", waiting(), 0, 0.5, "whole number"],
    ["more than 32 bits", waiting(), 0, 2 ** 31, "whole number"],
  ])("leaves alone %s", (_whom, moment, gang, by, why) => {
    expect(reasonOf(boostPriority(moment, gang, by))).toContain(why);
  });
});
