import { describe, expect, it } from "vitest";
import type { Found } from "../../../exporter/advice/candidate.ts";
import { findFixSource } from "../../../exporter/advice/kinds/fixSource.ts";
import { createTrial } from "../../../exporter/advice/whatIf/trial.ts";
import type { ClusterState } from "../../../exporter/model/cluster.ts";
import type { Problem } from "../../../exporter/model/problem.ts";
import { exporterStandsStill } from "../../../exporter/sources/dcgm/pageProblems.ts";
import { gpuNode, gpuPod, now } from "../../join/clusterBuilder.ts";
import { analysisAt, momentOf, pageAt, physicalGpu } from "../usage/watchedCluster.ts";

const frozen = exporterStandsStill({ target: "http://10.0.0.1:9400/metrics", node: "n1" }, "frozen", now - 3600);

const fault = (code: string, node = "n1"): Problem => ({
  source: "dcgm",
  code,
  severity: "error",
  subject: node,
  message: `http://10.0.0.1:9400/metrics (node ${node}): failing since 2027-01-15T07:00:00Z`,
  nextStep: "Check that the exporter runs.",
});

const exporter = (nodeName: string, name = `dcgm-exporter-${nodeName}`) => ({
  namespace: "gpu-operator",
  name,
  uid: `uid-${name}`,
  nodeName,
});

/** Two nodes with allocated GPUs; nothing is seen of the first. */
function found(more: Partial<ClusterState> = {}): Found {
  const moment = momentOf(
    analysisAt({
      nodes: [gpuNode("n1", 4), gpuNode("n2", 1)],
      pods: [gpuPod("train", "n1", 4), gpuPod("eval", "n2", 1)],
      telemetry: [pageAt("n2", [physicalGpu("GPU-9", 0.8, "eval")])],
      exporterPods: [exporter("n1"), exporter("n2")],
      problems: [frozen],
      ...more,
    }),
  );
  return findFixSource(moment, createTrial(moment));
}

const reasonOf = (of: Found): string => of.withheld[0]?.reason ?? "";

describe("an exporter whose values do not change", () => {
  it("is found by what its source says about it", () => {
    const analysis = analysisAt({
      nodes: [gpuNode("n1", 4)],
      pods: [gpuPod("train", "n1", 4)],
      telemetry: [],
      exporterPods: [exporter("n1")],
    });
    const moment = { ...momentOf(analysis), sourceProblems: [frozen] };
    expect(findFixSource(moment, createTrial(moment)).candidates).toHaveLength(1);
  });

  it("is restarted, and nothing else", () => {
    const { candidates, withheld } = found();
    expect(withheld).toEqual([]);
    expect(candidates).toHaveLength(1);
    expect(candidates[0]).toMatchObject({
      title: "restart gpu-operator/dcgm-exporter-n1 on node n1: 4 allocated H100-80GB-HBM3 are not observed",
      beneficiary: { kind: "node", name: "n1" },
      plan: { changes: [{ kind: "observe", node: 0 }], starts: [] },
      disrupted: [],
      confidence: { level: "high" },
      signs: [{ kind: "exporter-restarted", uid: "uid-dcgm-exporter-n1", node: "n1" }],
      measuredBy: { kind: "observed", nodes: ["n1"] },
    });
    expect(candidates[0]?.reason).toContain("no value has changed since");
    expect(candidates[0]?.steps[0]?.request.path).toBe(
      "/api/v1/namespaces/gpu-operator/pods/dcgm-exporter-n1/eviction",
    );
  });

  it.each(["target-timeout", "target-refused", "target-empty-page"])(
    "is restarted for %s, with less certainty",
    (code) => {
      expect(found({ problems: [fault(code)] }).candidates[0]?.confidence.level).toBe("medium");
    },
  );

  it("gives back in the trial what is allocated there", () => {
    const { candidates } = found();
    const moment = momentOf(analysisAt({}));
    const [first] = candidates;
    expect(first?.gainedGpus(createTrial(moment).outcome({ changes: [], starts: [] }, "mostAllocated"))).toBe(4);
  });
});

describe("an exporter is left alone", () => {
  it("when all is seen: there is nothing to recommend", () => {
    const physicalGpus = Array.from({ length: 4 }, (_, i) => physicalGpu(`GPU-${i}`, 0.5, "train"));
    const telemetry = [pageAt("n1", physicalGpus), pageAt("n2", [physicalGpu("GPU-9", 0.8, "eval")])];
    expect(found({ telemetry, problems: [] })).toEqual({ candidates: [], withheld: [] });
  });

  it("when nobody holds what is not seen", () => {
    expect(found({ pods: [gpuPod("eval", "n2", 1)] })).toEqual({ candidates: [], withheld: [] });
  });

  const reasons: readonly (readonly [what: string, more: Partial<ClusterState>, reason: string])[] = [
    [
      "its node is not ready",
      { nodes: [gpuNode("n1", 4, { ready: false, readyChangedAt: now - 60 }), gpuNode("n2", 1)] },
      "not ready",
    ],
    ["none is known", { exporterPods: [] }, "no exporter's pod"],
    ["two run there", { exporterPods: [exporter("n1"), exporter("n1", "other")] }, "2 exporters"],
    ["telemetry comes by way of Prometheus", { problems: [] }, "no fault of its exporter is known"],
    ["the credential is wrong", { problems: [fault("target-credentials")] }, "Check that the exporter runs."],
    [
      "only one of its GPUs is missing",
      {
        // An exporter of replicas may leave out a GPU that nobody holds.
        telemetry: [
          pageAt(
            "n1",
            [0, 1, 2].map((i) => ({ ...physicalGpu(`GPU-${i}`, 0.5), virtualSlots: 1 })),
          ),
        ],
      },
      "the exporter reports 3",
    ],
    [
      "so many fail that they have one cause",
      {
        problems: [
          { ...fault("targets-failing"), subject: null, message: "28 of 30 GPU telemetry targets fail; 20 are listed" },
          frozen,
        ],
      },
      "28 of 30",
    ],
  ];
  it.each(reasons)("when %s", (_what, more, reason) => {
    const { candidates, withheld } = found(more);
    expect(candidates).toEqual([]);
    expect(withheld[0]?.subject).toBe("n1");
    expect(reasonOf({ candidates, withheld })).toContain(reason);
  });

  it("and no more than twenty reasons are given", () => {
    const nodes = Array.from({ length: 40 }, (_, i) => gpuNode(`n${i}`, 1));
    const pods = nodes.map(({ name }) => gpuPod(`p-${name}`, name, 1));
    expect(found({ nodes, pods, exporterPods: [], telemetry: [] }).withheld).toHaveLength(20);
    const exporterPods = nodes.map(({ name }) => exporter(name));
    const problems = nodes.map(({ name }) => fault("target-refused", name));
    expect(found({ nodes, pods, exporterPods, telemetry: [], problems }).candidates).toHaveLength(10);
  });
});
