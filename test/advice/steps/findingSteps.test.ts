import { describe, expect, it } from "vitest";
import { fixFinding } from "../../../exporter/advice/steps/findingSteps.ts";
import type { Finding, FindingCode } from "../../../exporter/analysis/lint/finding.ts";
import { kaiQueue, volcanoQueue } from "../../queues/groupRows.ts";
import { clusterQueue } from "../../queues/kueueRows.ts";
import { bodyOf, queueMoment, reasonOf, revision, sent } from "./stepMoment.ts";

describe("fixing a finding", () => {
  const finding = (code: FindingCode): Finding => ({
    code,
    scheduler: "kueue",
    kind: "Queue",
    name: "q",
    reason: "",
    change: "",
  });
  const moment = queueMoment(
    {},
    {
      kueueClusterQueues: [clusterQueue("q", [], { cohort: "all", namespaceSelector: null, revision })],
      kaiQueues: [kaiQueue("q", { gpu: { quota: 4, overQuotaWeight: 0, limit: 0 }, revision })],
      volcanoQueues: [volcanoQueue("q", { state: "Closed", reclaimable: false, revision })],
    },
  );

  it.each<[FindingCode, unknown]>([
    ["kueue-no-reclaim", { op: "replace", path: "/spec/preemption/reclaimWithinCohort", value: "Any" }],
    ["kueue-reclaim-no-candidates", { op: "replace", path: "/spec/preemption/reclaimWithinCohort", value: "Any" }],
    ["kueue-queue-selects-no-namespace", { op: "add", path: "/spec/namespaceSelector", value: {} }],
    ["volcano-keeps-surplus", { op: "replace", path: "/spec/reclaimable", value: true }],
    ["kai-limit-zero", { op: "add", path: "/spec/resources/gpu/limit", value: -1 }],
    ["kai-limit-zero", { op: "add", path: "/spec/resources/cpu", value: { limit: -1 } }],
    ["kai-no-surplus", { op: "add", path: "/spec/resources/gpu/overQuotaWeight", value: 1 }],
  ])("is one patch: %s", (code, operation) => {
    expect(bodyOf(fixFinding(moment, finding(code)))).toContainEqual(operation);
  });

  it("opens a queue of Volcano by a command, as vcctl does", () => {
    expect(sent(fixFinding(moment, finding("volcano-queue-closed")))).toMatchObject([
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
      expect(reasonOf(fixFinding(moment, finding(code))).length).toBeGreaterThan(20);
    },
  );
});
