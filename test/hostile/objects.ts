import type { DumpCase } from "./hostileCase.ts";
import { card, node } from "./pages.ts";

const good = { "good.json": JSON.stringify(node("gpu-1", "2")) };
const json = (...items: readonly unknown[]): string => JSON.stringify({ kind: "List", apiVersion: "v1", items });

function pod(name: string, change: { metadata?: object; spec?: object; resources?: object } = {}): object {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace: "research", uid: `uid-${name}`, ...change.metadata },
    spec: {
      nodeName: "gpu-1",
      containers: [{ name: "main", resources: { limits: { "nvidia.com/gpu": "1" }, ...change.resources } }],
      ...change.spec,
    },
    status: { phase: "Running", startTime: "2026-11-20T10:00:00Z" },
  };
}

const bomb = `a: &a [x, x, x, x, x, x, x, x, x]\n${"bcdefgh".split("").map((l, i) => `${l}: &${l} [${Array(9).fill(`*${"abcdefg"[i]}`).join(", ")}]`).join("\n")}\n`;
const owned = (name: string, by: string): object => ({
  apiVersion: "batch/v1",
  kind: "Job",
  metadata: { name, namespace: "research", uid: `uid-${name}`, ownerReferences: [{ apiVersion: "batch/v1", kind: "Job", name: by, uid: `uid-${by}`, controller: true }] },
});

export const objectCases: readonly DumpCase[] = [
  { name: "neither JSON nor YAML", files: { ...good, "a.json": `{"kind": "Node",\n  "metadata": {"name": ]}` }, findings: [], devices: 2 },
  { name: "YAML with a tab", files: { ...good, "a.yaml": "kind: Node\nmetadata:\n\tname: x\n" }, findings: [], devices: 2 },
  { name: "an empty file", files: { ...good, "a.json": "" }, findings: [], devices: 2 },
  { name: "a number", files: { ...good, "a.json": "42" }, findings: [], devices: 2 },
  { name: "a text", files: { ...good, "a.json": `"hello"` }, findings: [], devices: 2 },
  { name: "an object without kind", files: { ...good, "a.json": `{"metadata": {"name": "x"}}` }, findings: [], devices: 2 },
  { name: "an object without name", files: { ...good, "a.json": `{"kind": "Node", "metadata": {}}` }, findings: [], devices: 2 },
  { name: "an object without metadata", files: { ...good, "a.json": `{"kind": "Pod", "metadata": 3}` }, findings: [], devices: 2 },
  { name: "a Secret", files: { ...good, "a.yaml": "apiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: d}\ndata: {password: aHVudGVyMg==}\n" }, findings: [], devices: 2 },
  { name: "capacity abc", files: { "a.json": json(node("gpu-1"), node("gpu-2", "abc")) }, findings: [] },
  { name: "negative capacity", files: { "a.json": json(node("gpu-1"), node("gpu-2", "-4")) }, findings: [] },
  { name: "gpu.count of 1e9", files: { "a.json": json(node("gpu-1"), node("gpu-2", "1000000000", { "nvidia.com/gpu.count": "1000000000" })) }, findings: [] },
  { name: "a resource of unknown unit", files: { "a.json": json(node("gpu-1"), { ...node("gpu-2"), status: { capacity: { "nvidia.com/gizmo": "4" }, allocatable: { "nvidia.com/gizmo": "4" } } }) }, findings: [] },
  { name: "labels named __proto__", files: { "a.json": json(node("gpu-1"), pod("p")).replace(`"uid":"uid-p"`, `"uid":"uid-p","labels":{"__proto__":{"polluted":"yes"},"constructor":"x"}`) }, findings: [] },
  { name: "a pod name with an escape", files: { "a.json": json(node("gpu-1"), pod("p\u001b[31m\nfake: line")) }, findings: [] },
  { name: "resources that are no map", files: { "a.json": json(node("gpu-1"), pod("p", { spec: { containers: "all" } })) }, findings: [] },
  { name: "a claim on an unknown device", files: { "a.json": json(node("gpu-1"), pod("p", { spec: { nodeName: "gpu-1", containers: [{ name: "main" }], resourceClaims: [{ name: "c", resourceClaimName: "c" }] } }), { apiVersion: "resource.k8s.io/v1", kind: "ResourceClaim", metadata: { name: "c", namespace: "research", uid: "uid-c" }, spec: {}, status: { allocation: { devices: { results: [{ request: "gpu", driver: "gpu.nvidia.com", pool: "gpu-1", device: "gpu-77" }] } }, reservedFor: [{ resource: "pods", name: "p", uid: "uid-p" }] } }) }, findings: [] },
  { name: "a fraction out of range", files: { "a.json": json(node("gpu-1"), pod("p", { metadata: { annotations: { "gpu-fraction": "17.5" } }, spec: { nodeName: "gpu-1", containers: [{ name: "main" }], schedulerName: "kai-scheduler" } })) }, findings: [] },
  { name: "owners in a circle", files: { "a.json": json(node("gpu-1"), owned("j1", "j2"), owned("j2", "j1"), pod("p", { metadata: { ownerReferences: [{ apiVersion: "batch/v1", kind: "Job", name: "j1", uid: "uid-j1", controller: true }] } })) }, findings: [] },
  { name: "the same node twice", files: { "a.json": JSON.stringify(node("gpu-1")), "b.json": JSON.stringify(node("gpu-1")) }, findings: [], devices: 2 },
  { name: "the same pod twice", files: { "a.json": json(node("gpu-1"), pod("p")), "b.json": json(pod("p")) }, findings: [], devices: 2 },
  { name: "a bomb of aliases", files: { ...good, "a.yaml": `kind: Node\n${bomb}` }, findings: [], devices: 2 },
  { name: "deep nesting", files: { ...good, "a.json": `${"[".repeat(50_000)}${"]".repeat(50_000)}` }, findings: [], devices: 2 },
  { name: "more GPUs asked for than there are", files: { "a.json": json(node("gpu-1"), pod("p", { resources: { limits: { "nvidia.com/gpu": "8" } } })), "a.prom": card("GPU-1", "gpu-1") }, findings: [] },
  { name: "binary garbage", files: { ...good, "a.yaml": Uint8Array.from({ length: 2048 }, (_, i) => (i * 7919 + (i >> 3)) % 256) }, findings: [], devices: 2 },
];
