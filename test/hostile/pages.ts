import type { DumpCase } from "./hostileCase.ts";

/** One card's rows, as dcgm-exporter writes them. */
export function card(uuid: string, host: string, gpu = 0, utilization = "37", extra = ""): string {
  const labels = `gpu="${gpu}",UUID="${uuid}",device="nvidia${gpu}",modelName="NVIDIA A100-SXM4-80GB",Hostname="${host}"${extra}`;
  return `DCGM_FI_DEV_GPU_UTIL{${labels}} ${utilization}\nDCGM_FI_DEV_FB_USED{${labels}} 1024\nDCGM_FI_DEV_FB_FREE{${labels}} 80000\n`;
}

/** A node with GPUs of which the dump's pages speak. */
export function node(name: string, gpus: unknown = "2", labels: Readonly<Record<string, unknown>> = {}): object {
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name, uid: `uid-${name}`, labels },
    status: { capacity: { "nvidia.com/gpu": gpus }, allocatable: { "nvidia.com/gpu": gpus } },
  };
}

const objects = (...items: readonly object[]): string => JSON.stringify({ kind: "List", apiVersion: "v1", items });
const good = { "good.prom": card("GPU-good", "gpu-1") };
const clean = {
  "n.json": objects(node("gpu-1"), node("gpu-2")),
};

export const pageCases: readonly DumpCase[] = [
  { name: "an empty page beside a good one", files: { ...good, "a.prom": "" }, findings: [], devices: 1 },
  { name: "a page of blanks", files: { "a.prom": "  \n\n \n" }, findings: [], devices: 0 },
  { name: "an HTML error page beside a good one", files: { ...good, "a.prom": "<!DOCTYPE html>\n<html><body>502 Bad Gateway</body></html>\n" }, findings: [], devices: 1 },
  { name: "binary garbage", files: { ...good, "a.prom": Uint8Array.from({ length: 4096 }, (_, i) => (i * 7919 + (i >> 3)) % 256) }, findings: [], devices: 1 },
  { name: "a page cut off in a row", files: { "a.prom": card("GPU-1", "gpu-1") + card("GPU-2", "gpu-1", 1).slice(0, 90) }, findings: [], devices: 1 },
  { name: "NaN as a value", files: { "a.prom": card("GPU-1", "gpu-1", 0, "NaN") }, findings: [], devices: 1 },
  { name: "no value", files: { "a.prom": card("GPU-1", "gpu-1", 0, "") }, findings: [], devices: 1 },
  { name: "utilization of 200000 percent", files: { "a.prom": card("GPU-1", "gpu-1", 0, "200000") }, findings: [], devices: 1 },
  { name: "a word as a value", files: { "a.prom": card("GPU-1", "gpu-1", 0, "busy") }, findings: [], devices: 1 },
  { name: "ANSI escapes and markup in labels", files: { "a.prom": card("GPU-\u001b[31m<script>alert(1)</script>", "gpu-1\u001b[2J\\n") }, findings: [], devices: 1 },
  { name: "a namespace with new lines and forged rows", files: { "a.prom": card("GPU-1", "gpu-1", 0, "5", `,namespace="a\\nDCGM_FI_DEV_GPU_UTIL 1\\n",pod="p\u0007",container="c"`) }, findings: [], devices: 1 },
  { name: "__proto__ as label name and value", files: { "a.prom": card("__proto__", "__proto__", 0, "5", `,__proto__="x",namespace="constructor",pod="__proto__",container="toString"`) }, findings: [], devices: 1 },
  { name: "an unterminated label value", files: { "a.prom": `DCGM_FI_DEV_GPU_UTIL{gpu="0",UUID="GPU-1\n${card("GPU-2", "gpu-1", 1)}` }, findings: [], devices: 1 },
  { name: "no UUID and no index", files: { "a.prom": `DCGM_FI_DEV_GPU_UTIL{Hostname="gpu-1"} 4\n` }, findings: [], devices: 0 },
  { name: "a page of another exporter", files: { "a.prom": "# TYPE node_load1 gauge\nnode_load1 0.5\n" }, findings: [], devices: 0 },
  { name: "the page of a node that the dump does not have", files: { ...clean, "a.prom": card("GPU-1", "elsewhere") }, findings: [] },
  { name: "the same card on two nodes", files: { ...clean, "a.prom": card("GPU-1", "gpu-1"), "b.prom": card("GPU-1", "gpu-2") }, findings: [] },
  { name: "3,000 cards in one page", files: { "a.prom": Array.from({ length: 3000 }, (_, i) => card(`GPU-${i}`, "gpu-1", i)).join("") }, findings: [] },
];
