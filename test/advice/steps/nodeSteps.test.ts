import { describe, expect, it } from "vitest";
import { labelNode, removeNode, restartExporter } from "../../../exporter/advice/steps/nodeSteps.ts";
import { changeRequest } from "../../../exporter/advice/steps/requestSteps.ts";
import { nodeView } from "../../analysis/momentBuilder.ts";
import { podNeeds } from "../../queues/kueueRows.ts";
import { momentOf, nodePoolView, owner, reasonOf, sent, stepsOf, workloadMoment } from "./stepMoment.ts";

const nodes = [nodeView({ name: "gpu-1", nodePool: "h100", uid: "uid-1" })];
const cordon = ["PATCH", "/api/v1/nodes/gpu-1", { metadata: { uid: "uid-1" }, spec: { unschedulable: true } }];

describe("removing a node", () => {
  it("drains it, with a dry run first, and deletes it where Karpenter then ends its machine", () => {
    const found = removeNode(momentOf({ nodes, nodePools: [nodePoolView({ manager: "karpenter" })] }), 0);
    expect(sent(found)).toEqual([
      cordon,
      ["DELETE", "/api/v1/nodes/gpu-1", { apiVersion: "v1", kind: "DeleteOptions", preconditions: { uid: "uid-1" } }],
    ]);
    expect(stepsOf(found)[0]).toMatchObject({
      command: "kubectl drain gpu-1 --ignore-daemonsets",
      dryRun: "kubectl drain gpu-1 --ignore-daemonsets --dry-run=server",
    });
  });

  it.each([
    [nodePoolView({ manager: "cluster-autoscaler", minNodes: 2 }), "removes an empty node by itself"],
    [nodePoolView({ manager: "cloud" }), "node pool h100 in the cloud"],
    [nodePoolView({ manager: "none" }), "switch it off"],
  ])("says who ends its machine: $manager", (one, words) => {
    const found = removeNode(momentOf({ nodes, nodePools: [one] }), 0);
    expect(sent(found)).toEqual([cordon]);
    expect(stepsOf(found)[0]?.waitFor).toContain(words);
  });

  it("says that nothing checks which machine it is where no uid is known", () => {
    const [step] = stepsOf(removeNode(momentOf({ nodes: [nodeView({ name: "gpu-1" })] }), 0));
    expect(step?.request.body).toEqual({ spec: { unschedulable: true } });
    expect(step?.precondition).toContain("no uid of it is known");
  });

  it("is not offered for a name that telemetry alone knows, or that no node can have", () => {
    expect(removeNode(momentOf({ nodes: [nodeView({ schedulable: null })] }), 0).ok).toBe(false);
    expect(removeNode(momentOf({ nodes: [nodeView({ name: "a;b" })] }), 0).ok).toBe(false);
  });
});

describe("restarting an exporter", () => {
  const pod = { namespace: "gpu-operator", name: "dcgm-x", uid: "uid-x", nodeName: "gpu-1" };

  it("evicts its pod on the node", () => {
    const found = restartExporter(momentOf({ nodes, exporterPods: [pod, { ...pod, nodeName: "gpu-2" }] }), 0);
    expect(sent(found)).toMatchObject([
      [
        "POST",
        "/api/v1/namespaces/gpu-operator/pods/dcgm-x/eviction",
        { deleteOptions: { preconditions: { uid: "uid-x" } } },
      ],
    ]);
  });

  it("says why not", () => {
    expect(reasonOf(restartExporter(momentOf({ nodes }), 0))).toContain("no pod of a GPU exporter");
    expect(reasonOf(restartExporter(momentOf({ nodes, exporterPods: [pod, pod] }), 0))).toContain("2 exporters");
  });
});

describe("labelling a node", () => {
  it("sets one label", () => {
    expect(sent(labelNode(momentOf({ nodes }), 0, "nvidia.com/mig.config", "all-1g.10gb"))).toEqual([
      [
        "PATCH",
        "/api/v1/nodes/gpu-1",
        { metadata: { uid: "uid-1", labels: { "nvidia.com/mig.config": "all-1g.10gb" } } },
      ],
    ]);
  });

  it.each([
    ["nvidia.com/mig.config", "a b"],
    ["a b", "x"],
    ["__proto__", "x".repeat(64)],
  ])("refuses what is no label: %s=%s", (label, value) => {
    expect(reasonOf(labelNode(momentOf({ nodes }), 0, label, value))).toContain("no label");
  });
});

describe("asking for less", () => {
  const deployment = [owner("apps/v1", "ReplicaSet", "llm-7f"), owner("apps/v1", "Deployment", "llm")];
  const asks = (amounts: Record<string, number>) => ({ pods: 2, pod: { needs: podNeeds(amounts) } });
  const at = "/spec/template/spec/containers/0/resources/limits";
  const guards = [
    { op: "test", path: "/metadata/uid", value: "uid-llm" },
    { op: "test", path: `${at}/nvidia.com~1gpu`, value: "4" },
  ];

  it("changes the template where it asks for what the pods ask for", () => {
    const moment = workloadMoment(deployment, {}, asks({ "nvidia.com/gpu": 4, cpu: 8 }));
    expect(sent(changeRequest(moment, 0, { resource: "nvidia.com/gpu", amount: 1 }))).toEqual([
      [
        "PATCH",
        "/apis/apps/v1/namespaces/research/deployments/llm",
        [...guards, { op: "replace", path: `${at}/nvidia.com~1gpu`, value: "1" }],
      ],
    ]);
  });

  it("exchanges the resource", () => {
    const moment = workloadMoment(deployment, {}, asks({ "nvidia.com/gpu": 4 }));
    expect(sent(changeRequest(moment, 0, { resource: "nvidia.com/mig-1g.10gb", amount: 1 }))[0]?.[2]).toEqual([
      ...guards,
      { op: "remove", path: `${at}/nvidia.com~1gpu` },
      { op: "add", path: `${at}/nvidia.com~1mig-1g.10gb`, value: "1" },
    ]);
  });

  it.each([
    [
      "a Job, whose template never changes",
      workloadMoment([owner("batch/v1", "Job", "j")], {}, asks({ "nvidia.com/gpu": 4 })),
      "while it runs",
    ],
    ["two GPU resources", workloadMoment(deployment, {}, asks({ "nvidia.com/gpu": 4, "amd.com/gpu": 1 })), "same GPUs"],
    ["pods whose requests are not known", workloadMoment(deployment), "same GPUs"],
    ["what it has", workloadMoment(deployment, {}, asks({ "nvidia.com/gpu": 1 })), "already"],
  ])("says why not: %s", (_what, moment, reason) => {
    expect(reasonOf(changeRequest(moment, 0, { resource: "nvidia.com/gpu", amount: 1 }))).toContain(reason);
  });
});
