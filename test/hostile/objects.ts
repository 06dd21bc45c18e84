import { aliasBomb as bomb, node, owned, physicalGpu, pod } from "./build.ts";
import type { DumpCase } from "./hostileCase.ts";

const good = { "good.json": JSON.stringify(node("gpu-1", "2")) };
const json = (...items: readonly unknown[]): string => JSON.stringify({ kind: "List", apiVersion: "v1", items });

const correct = "Correct or remove the file, and run inspect again.";
const lookAtObject =
  'Look at the object with "kubectl get -o yaml" and correct the field, or report it if it is valid.';

export const objectCases: readonly DumpCase[] = [
  {
    name: "neither JSON nor YAML",
    files: { ...good, "a.json": `{"kind": "Node",\n  "metadata": {"name": ]}` },
    findings: [
      {
        message:
          "DIR/a.json:2:24 is left out: it is neither JSON nor YAML (Flow map in block collection must be sufficiently indented and end with a })",
        nextStep: correct,
      },
    ],
    shows: ["sums to 2.0"],
    devices: 2,
  },
  {
    name: "YAML with a tab",
    files: { ...good, "a.yaml": "kind: Node\nmetadata:\n\tname: x\n" },
    findings: [
      {
        message: "DIR/a.yaml:3:1 is left out: it is neither JSON nor YAML (Tabs are not allowed as indentation)",
        nextStep: correct,
      },
    ],
    shows: ["sums to 2.0"],
    devices: 2,
  },
  {
    name: "an empty file",
    files: { ...good, "a.json": "" },
    findings: [{ message: "DIR/a.json is left out: it is empty", nextStep: correct }],
    shows: ["sums to 2.0"],
    devices: 2,
  },
  {
    name: "a number",
    files: { ...good, "a.json": "42" },
    findings: [{ message: "DIR/a.json is left out: it holds a number, not a Kubernetes object", nextStep: correct }],
    shows: ["sums to 2.0"],
    devices: 2,
  },
  {
    name: "a text",
    files: { ...good, "a.json": `"hello"` },
    findings: [{ message: "DIR/a.json is left out: it holds plain text, not a Kubernetes object", nextStep: correct }],
    shows: ["sums to 2.0"],
    devices: 2,
  },
  {
    name: "an object without kind",
    files: { ...good, "a.json": `{"metadata": {"name": "x"}}` },
    findings: [{ message: "DIR/a.json is left out: an object in it has no kind", nextStep: correct }],
    shows: ["sums to 2.0"],
    devices: 2,
  },
  {
    name: "an object without name",
    files: { ...good, "a.json": `{"kind": "Node", "metadata": {}}` },
    findings: [{ message: "is left out: metadata.name is missing.", nextStep: lookAtObject }],
    shows: ["sums to 2.0"],
    devices: 2,
  },
  {
    name: "an object without metadata",
    files: { ...good, "a.json": `{"kind": "Pod", "metadata": 3}` },
    findings: [{ message: "is left out: metadata is 3, expected an object.", nextStep: lookAtObject }],
    shows: ["sums to 2.0"],
    devices: 2,
  },
  {
    name: "a Secret",
    files: {
      ...good,
      "a.yaml": "apiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: d}\ndata: {password: aHVudGVyMg==}\n",
    },
    findings: [{ message: "DIR/a.yaml is left out: it holds a Secret, which Fairlead never reads", nextStep: correct }],
    shows: ["sums to 2.0"],
    absent: ["aHVudGVyMg"],
    devices: 2,
  },
  {
    name: "capacity abc",
    files: { "a.json": json(node("gpu-1"), node("gpu-2", "abc")) },
    findings: [
      {
        message:
          'DIR/a.json: Node gpu-2 is left out: status.capacity["nvidia.com/gpu"] is "abc", expected a quantity; status.allocatable["nvidia.com/gpu"] is "abc", expected a quantity.',
        nextStep: lookAtObject,
      },
    ],
    devices: 2,
    shows: ["sums to 2.0"],
  },
  {
    name: "negative capacity",
    files: { "a.json": json(node("gpu-1"), node("gpu-2", "-4")) },
    findings: [],
    devices: 2,
    shows: ["sums to 2.0"],
  },
  {
    name: "gpu.count of 1e9",
    files: { "a.json": json(node("gpu-1"), node("gpu-2", "1000000000", { "nvidia.com/gpu.count": "1000000000" })) },
    findings: [
      {
        message: "node gpu-2 claims to have 1000000000 GPUs, more than any machine; the number is not believed",
        nextStep: "Check the node's capacity and its label nvidia.com/gpu.count: kubectl get node -o yaml.",
      },
    ],
    devices: 2,
  },
  {
    name: "a resource of unknown unit",
    files: {
      "a.json": json(node("gpu-1"), {
        ...node("gpu-2"),
        status: { capacity: { "example.com/gpu-slice": "4" }, allocatable: { "example.com/gpu-slice": "4" } },
      }),
    },
    findings: [],
  },
  {
    name: "labels named __proto__",
    files: {
      "a.json": json(node("gpu-1"), pod("p")).replace(
        `"uid":"uid-p"`,
        `"uid":"uid-p","labels":{"__proto__":{"polluted":"yes"},"constructor":"x"}`,
      ),
    },
    findings: [],
    devices: 2,
    shows: ["sums to 2.0"],
  },
  {
    name: "a pod name with an escape",
    files: { "a.json": json(node("gpu-1"), pod("p\u001b[31m\nfake: line")) },
    findings: [],
    devices: 2,
  },
  {
    name: "resources that are no map",
    files: { "a.json": json(node("gpu-1"), pod("p", { spec: { containers: "all" } })) },
    findings: [
      {
        message: 'DIR/a.json: Pod research/p is left out: spec.containers is "all", expected a list.',
        nextStep: lookAtObject,
      },
    ],
    devices: 2,
  },
  {
    name: "a claim on an unknown device",
    files: {
      "a.json": json(
        node("gpu-1"),
        pod("p", {
          spec: {
            nodeName: "gpu-1",
            containers: [{ name: "main" }],
            resourceClaims: [{ name: "c", resourceClaimName: "c" }],
          },
        }),
        {
          apiVersion: "resource.k8s.io/v1",
          kind: "ResourceClaim",
          metadata: { name: "c", namespace: "research", uid: "uid-c" },
          spec: {},
          status: {
            allocation: {
              devices: { results: [{ request: "gpu", driver: "gpu.nvidia.com", pool: "gpu-1", device: "gpu-77" }] },
            },
            reservedFor: [{ resource: "pods", name: "p", uid: "uid-p" }],
          },
        },
      ),
    },
    findings: [
      {
        message:
          "claim research/c holds device gpu-1/gpu-77, which no ResourceSlice describes; its GPU on node gpu-1 is estimated",
        nextStep:
          "Check that Fairlead may list resourceslices (resource.k8s.io) and that the DRA driver's plugin runs on the node.",
      },
    ],
    devices: 2,
  },
  {
    name: "a fraction out of range",
    files: {
      "a.json": json(
        node("gpu-1"),
        pod("p", {
          metadata: { annotations: { "gpu-fraction": "17.5" } },
          spec: { nodeName: "gpu-1", containers: [{ name: "main" }], schedulerName: "kai-scheduler" },
        }),
      ),
    },
    findings: [],
    devices: 2,
  },
  {
    name: "owners in a circle",
    files: {
      "a.json": json(
        node("gpu-1"),
        owned("j1", "j2"),
        owned("j2", "j1"),
        pod("p", {
          metadata: {
            ownerReferences: [{ apiVersion: "batch/v1", kind: "Job", name: "j1", uid: "uid-j1", controller: true }],
          },
        }),
      ),
    },
    findings: [],
    devices: 2,
  },
  {
    name: "the same node twice",
    files: { "a.json": JSON.stringify(node("gpu-1")), "b.json": JSON.stringify(node("gpu-1")) },
    findings: [],
    devices: 2,
  },
  {
    name: "the same pod twice",
    files: { "a.json": json(node("gpu-1"), pod("p")), "b.json": json(pod("p")) },
    findings: [],
    shows: ["research 1.0 1.0~"],
    devices: 2,
  },
  {
    name: "a bomb of aliases",
    files: { ...good, "a.yaml": `kind: Node\n${bomb}` },
    findings: [
      {
        message: "DIR/a.yaml is left out: Excessive alias count indicates a resource exhaustion attack",
        nextStep: correct,
      },
    ],
    shows: ["sums to 2.0"],
    devices: 2,
  },
  {
    name: "deep nesting",
    files: { ...good, "a.json": `${"[".repeat(50_000)}${"]".repeat(50_000)}` },
    findings: [{ message: "DIR/a.json is left out: it has lists in lists, more than 20 deep", nextStep: correct }],
    shows: ["sums to 2.0"],
    devices: 2,
  },
  {
    name: "more GPUs asked for than there are",
    files: {
      "a.json": json(node("gpu-1"), pod("p", { resources: { limits: { "nvidia.com/gpu": "8" } } })),
      "a.prom": physicalGpu("GPU-1", "gpu-1"),
    },
    findings: [
      {
        message:
          "pods on node gpu-1 ask for 6 GPUs more than the node has left; the difference is published as imbalance",
        nextStep: "Compare the node's GPUs with its pods' requests: kubectl describe node gpu-1",
      },
    ],
    devices: 2,
  },
  {
    name: "binary garbage",
    files: { ...good, "a.yaml": Uint8Array.from({ length: 2048 }, (_, i) => (i * 7919 + (i >> 3)) % 256) },
    findings: [{ message: "DIR/a.yaml is left out: it holds plain text, not a Kubernetes object", nextStep: correct }],
    shows: ["sums to 2.0"],
    devices: 2,
  },
];
