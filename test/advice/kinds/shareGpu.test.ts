import { describe, expect, it } from "vitest";
import type { Found } from "../../../exporter/advice/candidate.ts";
import { findShareGpu } from "../../../exporter/advice/kinds/shareGpu.ts";
import type { AdviceSettings } from "../../../exporter/advice/moment.ts";
import { createTrial } from "../../../exporter/advice/whatIf/trial.ts";
import type { ClusterState } from "../../../exporter/model/cluster.ts";
import type { ClusterNode } from "../../../exporter/model/node.ts";
import type { TelemetryPage } from "../../../exporter/model/telemetry.ts";
import { bareReading, gfdLabels, gibibyte, gpuNode, gpuPod, instance, node } from "../../join/clusterBuilder.ts";
import { deployment, pageAt, physicalGpu, podOf, replicaSet, watchedMoment } from "../usage/watchedCluster.ts";

interface User {
  readonly activity?: number;
  readonly memory?: number | null;
  readonly labels?: Record<string, string>;
}

interface Case {
  readonly users?: readonly User[];
  readonly nodes?: readonly ClusterNode[];
  readonly pages?: (at: number) => readonly TelemetryPage[];
  readonly pods?: ClusterState["pods"];
  readonly settings?: Partial<AdviceSettings>;
  readonly hours?: number;
}

/** Deployments with one pod each that hold a GPU of `whole` each, and other nodes beside it. */
function stateAt({ users = [{}], nodes = [], pages = () => [], pods = [] }: Case, at: number): Partial<ClusterState> {
  const owners = users.map((_, i) => deployment(`eval-${i}`));
  const physicalGpus = users.map(({ activity = 0.1, memory = 0.05 }, i) =>
    physicalGpu(`GPU-${i}`, activity, `eval-${i}-0`, memory),
  );
  return {
    nodes: [gpuNode("whole", 8), ...nodes],
    owners: owners.flatMap((one) => [one, replicaSet(one)]),
    pods: [
      ...owners.map((one, i) => podOf(one, `eval-${i}-0`, "whole", 1, { labels: users[i]?.labels ?? {} })),
      ...pods,
    ],
    telemetry: [pageAt("whole", physicalGpus, at), ...pages(at)],
  };
}

function found(given: Case): Found {
  const moment = watchedMoment((at) => stateAt(given, at), given.hours, given.settings);
  return findShareGpu(moment, createTrial(moment));
}

/** A GPU cut into seven instances that nobody holds. */
const mig = (name: string, strategy = "mixed"): ClusterNode =>
  node(name, {
    labels: { ...gfdLabels(1), "nvidia.com/mig.strategy": strategy, "nvidia.com/mig.capable": "true" },
    capacity: { "nvidia.com/mig-1g.10gb": 7 },
  });

const migPage = (name: string) => (at: number) => [
  pageAt(
    name,
    Array.from({ length: 7 }, (_, i) => instance(`GPU-${name}`, `${7 + i}`, "1g.10gb", 0)),
    at,
  ),
];

const withMig: Case = { nodes: [mig("cut")], pages: migPage("cut") };

describe("small users of whole GPUs", () => {
  it("go onto instances that are free", () => {
    const { candidates, withheld } = found(withMig);
    expect(withheld).toEqual([]);
    expect(candidates).toHaveLength(1);
    expect(candidates[0]).toMatchObject({
      title:
        "ask team research whether nvidia.com/mig-1g.10gb instead of 1 whole GPU (H100-80GB-HBM3) is enough for research/eval-0",
      beneficiary: { kind: "team", name: "research" },
      targets: ["Deployment research/eval-0"],
      signs: [{ kind: "request-changed", workload: "Deployment/research/eval-0" }],
      measuredBy: { kind: "work-released", work: ["Deployment/research/eval-0"], gpus: 1 },
    });
    const [change] = candidates[0]?.plan.changes ?? [];
    expect(change?.kind === "shrink" ? change.gpusPerPod : null).toBeCloseTo(1 / 7, 9);
    expect(candidates[0]?.steps[0]?.request.path).toBe("/apis/apps/v1/namespaces/research/deployments/eval-0");
    expect(candidates[0]?.questions).toMatchObject([{ to: "team research", about: "Deployment research/eval-0" }]);
  });

  it("go onto replicas that have a name of their own", () => {
    const shared = node("shared", {
      labels: { ...gfdLabels(1), "nvidia.com/gpu.replicas": "4" },
      capacity: { "nvidia.com/gpu.shared": 4 },
    });
    const pages = (at: number) => [
      pageAt("shared", [bareReading("GPU-s", { smActive: 0, gpuUtil: 0, memoryTotalBytes: 80 * gibibyte })], at),
    ];
    const [candidate] = found({ nodes: [shared], pages }).candidates;
    expect(candidate?.title).toContain("whether nvidia.com/gpu.shared");
    expect(candidate?.confidence.level).toBe("low");
  });

  it("are as many as are free, and as one plan may move", () => {
    const users: readonly User[] = Array.from({ length: 8 }, () => ({}));
    expect(found({ ...withMig, users, settings: { maxMoves: 50 } }).candidates[0]?.targets).toHaveLength(7);
    expect(found({ ...withMig, users, settings: { maxMoves: 3 } }).candidates[0]?.targets).toHaveLength(3);
  });
});

describe("nobody is asked to share", () => {
  const rows: readonly (readonly [what: string, given: Case])[] = [
    ["who was busy with more than a quarter", { ...withMig, users: [{ activity: 0.26 }] }],
    ["who used more than a quarter of the memory", { ...withMig, users: [{ memory: 0.26 }] }],
    ["whose memory is not known", { ...withMig, users: [{ memory: null }] }],
    ["who did nothing at all", { ...withMig, users: [{ activity: 0 }] }],
    ["who was not watched for long", { ...withMig, hours: 11 }],
    ["who asked to be left alone", { ...withMig, users: [{ labels: { "fairlead.dev/idle-opt-out": "true" } }] }],
  ];
  it.each(rows)("%s", (_what, given) => {
    expect(found(given)).toEqual({ candidates: [], withheld: [] });
  });

  const withheld: readonly (readonly [what: string, given: Case])[] = [
    ["where nothing is shared", {}],
    ["where the instances would slow it down", { ...withMig, users: [{ activity: 0.2 }] }],
    ["where the instances have too little memory", { ...withMig, users: [{ memory: 0.11 }] }],
    ["where instances go by the name of whole GPUs", { ...withMig, nodes: [mig("cut", "single")] }],
  ];
  it.each(withheld)("%s, and the reason is kept", (_what, given) => {
    const { candidates, withheld: reasons } = found(given);
    expect(candidates).toEqual([]);
    expect(reasons).toMatchObject([{ why: "no-plan", subject: "H100-80GB-HBM3" }]);
    expect(reasons[0]?.reason).toContain("no shared device is free for them");
  });
});

describe("a node that is cut for small users", () => {
  const cuttable = (name: string, physicalGpus: number, parts: Partial<ClusterNode> = {}): ClusterNode =>
    gpuNode(name, physicalGpus, {
      labels: {
        ...gfdLabels(physicalGpus),
        "nvidia.com/mig.capable": "true",
        "nvidia.com/mig.strategy": "mixed",
        "nvidia.com/gpu.deploy.mig-manager": "true",
      },
      ...parts,
    });
  const three: readonly User[] = [{}, {}, {}];
  const reasonOf = (given: Case): string => {
    const { candidates, withheld } = found(given);
    expect(candidates).toEqual([]);
    return withheld[0]?.reason ?? "";
  };

  it("gives back more GPUs than it has", () => {
    const { candidates } = found({ users: three, nodes: [cuttable("free", 2)] });
    expect(candidates).toHaveLength(1);
    expect(candidates[0]).toMatchObject({
      beneficiary: { kind: "pool", name: "H100-80GB-HBM3" },
      targets: ["Node free"],
      confidence: { level: "low" },
    });
    const paths = candidates[0]?.steps.map(({ request }) => request.path) ?? [];
    expect([...paths.slice(0, 3), ...paths.slice(3).sort()]).toEqual([
      "/api/v1/nodes/free",
      "/api/v1/nodes/free",
      "/api/v1/nodes/free",
      ...[0, 1, 2].map((i) => `/apis/apps/v1/namespaces/research/deployments/eval-${i}`),
    ]);
    expect(JSON.stringify(candidates[0]?.steps[1]?.request.body)).toContain('"nvidia.com/mig.config":"all-1g.10gb"');
    expect(candidates[0]?.steps[1]?.waitFor).toContain("nvidia.com/mig.config.state");
  });

  it("is not one that has as many GPUs as they would give back", () => {
    expect(reasonOf({ users: three, nodes: [cuttable("free", 3)] })).toContain("gives back no more GPUs than it takes");
  });

  it("is not cut for two", () => {
    expect(reasonOf({ users: [{}, {}], nodes: [cuttable("free", 1)] })).toContain("fewer than 3");
  });

  it("is not one on which someone holds a GPU", () => {
    const pods = [gpuPod("other", "free", 1)];
    expect(reasonOf({ users: three, nodes: [cuttable("free", 2)], pods })).toContain(
      "no node of the pool is wholly free",
    );
  });

  it("is not one that waiting work could use as it is", () => {
    const pods = [gpuPod("waits", null, 2)];
    expect(reasonOf({ users: three, nodes: [cuttable("free", 2)], pods })).toContain("Pod research/waits waits");
  });

  it("is not one that no MIG Manager runs on", () => {
    expect(reasonOf({ users: three, nodes: [gpuNode("free", 2)] })).toContain("MIG Manager");
  });
});
