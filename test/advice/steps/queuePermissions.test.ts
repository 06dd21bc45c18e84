import { describe, expect, it } from "vitest";
import { allowReclaim, mendFinding } from "../../../exporter/advice/steps/steps.ts";
import type { Finding, FindingCode } from "../../../exporter/analysis/lint/finding.ts";
import { noQueueing } from "../../../exporter/join/queues/queueing.ts";
import { noQueueObjects } from "../../../exporter/model/queues/queueObjects.ts";
import { kaiQueue, volcanoQueue } from "../../queues/groupRows.ts";
import { clusterQueue } from "../../queues/kueueRows.ts";
import { queueView, quotaDomain } from "../../queues/queueView.ts";
import { bodyOf, momentOf, queueMoment, reasonOf, revision, revisionTests, sent, stepsOf } from "./stepMoment.ts";

describe("taking back", () => {
  it("is allowed to a ClusterQueue of Kueue", () => {
    const moment = queueMoment({}, { kueueClusterQueues: [clusterQueue("q", [], { cohort: "all", revision })] });
    const path = "/spec/preemption/reclaimWithinCohort";
    expect(bodyOf(allowReclaim(moment, 0))).toEqual([
      ...revisionTests,
      { op: "test", path, value: "Never" },
      { op: "replace", path, value: "Any" },
    ]);
  });

  it("is allowed from those queues of Volcano that hold too much and keep it", () => {
    const queues = [
      queueView({ scheduler: "volcano", name: "starved" }),
      queueView({ scheduler: "volcano", name: "q", held: 4, guaranteed: 2 }),
      queueView({ scheduler: "volcano", name: "within", held: 2, guaranteed: 2 }),
    ];
    const queueing = { ...noQueueing, domains: [quotaDomain()], queues, queueOfPod: new Int32Array([0]) };
    const volcanoQueues = ["starved", "q", "within"].map((name) =>
      volcanoQueue(name, { reclaimable: false, revision }),
    );
    const moment = momentOf({ queueing, queueObjects: { ...noQueueObjects, volcanoQueues } });
    expect(stepsOf(allowReclaim(moment, 0)).map(({ request }) => request.path)).toEqual([
      "/apis/kueue.x-k8s.io/v1beta2/queues/q",
    ]);
  });

  it("needs no permission in KAI, and nobody does it without a scheduler of queues", () => {
    expect(reasonOf(allowReclaim(queueMoment({ scheduler: "kai" }, {}), 0))).toContain("by itself");
    expect(reasonOf(allowReclaim(queueMoment({ scheduler: "none" }, {}), 0))).toContain("no scheduler");
  });
});

describe("mending a finding", () => {
  const finding = (code: FindingCode): Finding => ({
    ...{ code, scheduler: "kueue", kind: "Queue", name: "q", reason: "", change: "" },
  });
  const moment = queueMoment(
    {},
    {
      kueueClusterQueues: [clusterQueue("q", [], { cohort: "all", namespaceSelector: null, revision })],
      kaiQueues: [kaiQueue("q", { gpu: { quota: 4, overQuotaWeight: 0, limit: 0 }, revision })],
      volcanoQueues: [volcanoQueue("q", { state: "Closed", revision })],
    },
  );

  it.each<[FindingCode, unknown]>([
    ["kueue-no-reclaim", { op: "replace", path: "/spec/preemption/reclaimWithinCohort", value: "Any" }],
    ["kueue-queue-selects-no-namespace", { op: "add", path: "/spec/namespaceSelector", value: {} }],
    ["kai-limit-zero", { op: "add", path: "/spec/resources/gpu/limit", value: -1 }],
    ["kai-limit-zero", { op: "add", path: "/spec/resources/cpu", value: { limit: -1 } }],
    ["kai-no-surplus", { op: "add", path: "/spec/resources/gpu/overQuotaWeight", value: 1 }],
  ])("is one patch: %s", (code, operation) => {
    expect(bodyOf(mendFinding(moment, finding(code)))).toContainEqual(operation);
  });

  it("opens a queue of Volcano by a command, as vcctl does", () => {
    expect(sent(mendFinding(moment, finding("volcano-queue-closed")))).toMatchObject([
      [
        "POST",
        "/apis/bus.volcano.sh/v1alpha1/namespaces/default/commands",
        { action: "OpenQueue", target: { uid: "uid-q" } },
      ],
    ]);
  });

  it.each<[FindingCode]>([["quota-above-capacity"], ["queue-unknown"], ["kueue-admission-mode-ignored"]])(
    "is for a person where no request does it: %s",
    (code) => {
      expect(reasonOf(mendFinding(moment, finding(code))).length).toBeGreaterThan(20);
    },
  );
});
