import { node, physicalGpu } from "./build.ts";
import type { DumpCase } from "./hostileCase.ts";

const objects = (...items: readonly object[]): string => JSON.stringify({ kind: "List", apiVersion: "v1", items });
const good = { "good.prom": physicalGpu("GPU-good", "gpu-1") };
const clean = {
  "n.json": objects(node("gpu-1"), node("gpu-2")),
};

const emptyPage =
  "Wait one interval (dcgm-exporter answers so while it reloads); if it stays, read the exporter's log.";
const notAnExporter = "Check URL, port and path: is this dcgm-exporter's /metrics, or a login page?";
const spoiltLines =
  "Before dcgm-exporter 4.8.3, pod labels with quotes or line breaks spoil lines: upgrade, or allow only the labels that are needed.";

export const pageCases: readonly DumpCase[] = [
  {
    name: "an empty page beside a good one",
    files: { ...good, "a.prom": "" },
    findings: [{ message: "DIR/a.prom: the page is empty; that is no data, not an idle node", nextStep: emptyPage }],
    shows: ["sums to 1.0"],
    devices: 1,
  },
  {
    name: "a page of blanks",
    files: { "a.prom": "  \n\n \n" },
    findings: [{ message: "DIR/a.prom: the page is empty; that is no data, not an idle node", nextStep: emptyPage }],
    shows: ["no GPUs were found"],
    devices: 0,
  },
  {
    name: "an HTML error page beside a good one",
    files: { ...good, "a.prom": "<!DOCTYPE html>\n<html><body>502 Bad Gateway</body></html>\n" },
    findings: [{ message: "DIR/a.prom: the page has no line of a known GPU exporter", nextStep: notAnExporter }],
    shows: ["sums to 1.0"],
    devices: 1,
  },
  {
    name: "binary garbage",
    files: { ...good, "a.prom": Uint8Array.from({ length: 4096 }, (_, i) => (i * 7919 + (i >> 3)) % 256) },
    findings: [{ message: "DIR/a.prom: the page has no line of a known GPU exporter", nextStep: notAnExporter }],
    shows: ["sums to 1.0"],
    devices: 1,
  },
  {
    name: "a page cut off in a row",
    files: { "a.prom": physicalGpu("GPU-1", "gpu-1") + physicalGpu("GPU-2", "gpu-1", 1).slice(0, 90) },
    findings: [
      {
        message: "DIR/a.prom: 1 line is neither comment nor sample, or cut off; the others are used",
        nextStep: spoiltLines,
      },
    ],
    shows: ["sums to 1.0"],
    devices: 1,
  },
  {
    name: "NaN as a value",
    files: { "a.prom": physicalGpu("GPU-1", "gpu-1", 0, "NaN") },
    findings: [],
    activity: null,
    devices: 1,
  },
  {
    name: "no value",
    files: { "a.prom": physicalGpu("GPU-1", "gpu-1", 0, "") },
    findings: [
      {
        message: "DIR/a.prom: 1 line is neither comment nor sample, or cut off; the others are used",
        nextStep: spoiltLines,
      },
    ],
    activity: null,
    devices: 1,
  },
  {
    name: "utilization of 200000 percent",
    files: { "a.prom": physicalGpu("GPU-1", "gpu-1", 0, "200000") },
    findings: [],
    activity: null,
    absent: ["200000", "2000"],
    devices: 1,
  },
  {
    name: "a word as a value",
    files: { "a.prom": physicalGpu("GPU-1", "gpu-1", 0, "busy") },
    findings: [],
    activity: null,
    devices: 1,
  },
  {
    name: "ANSI escapes and markup in labels",
    files: { "a.prom": physicalGpu("GPU-\u001b[31m<script>alert(1)</script>", "gpu-1\u001b[2J\\n") },
    findings: [],
    activity: 0.37,
    devices: 1,
  },
  {
    name: "a namespace with new lines and forged rows",
    files: {
      "a.prom": physicalGpu(
        "GPU-1",
        "gpu-1",
        0,
        "5",
        `,namespace="a\\nDCGM_FI_DEV_GPU_UTIL 1\\n",pod="p\u0007",container="c"`,
      ),
    },
    findings: [],
    activity: 0.05,
    devices: 1,
  },
  {
    name: "__proto__ as label name and value",
    files: {
      "a.prom": physicalGpu(
        "__proto__",
        "__proto__",
        0,
        "5",
        `,__proto__="x",namespace="constructor",pod="__proto__",container="toString"`,
      ),
    },
    findings: [],
    activity: 0.05,
    devices: 1,
  },
  {
    name: "an unterminated label value",
    files: { "a.prom": `DCGM_FI_DEV_GPU_UTIL{gpu="0",UUID="GPU-1\n${physicalGpu("GPU-2", "gpu-1", 1)}` },
    findings: [
      {
        message: "DIR/a.prom: 1 line is neither comment nor sample, or cut off; the others are used",
        nextStep: spoiltLines,
      },
    ],
    activity: 0.37,
    devices: 1,
  },
  {
    name: "no UUID and no index",
    files: { "a.prom": `DCGM_FI_DEV_GPU_UTIL{Hostname="gpu-1"} 4\n` },
    findings: [
      {
        message: "DIR/a.prom: an exporter's page without a row of any GPU; its GPUs are unknown, not absent",
        nextStep:
          "Look whether the exporter sees GPUs (nvidia-smi in its pod); under virtual GPUs or DRA, versions before 4.8.2 hide unallocated ones: upgrade.",
      },
    ],
    devices: 0,
  },
  {
    name: "a page of another exporter",
    files: { "a.prom": "# TYPE node_load1 gauge\nnode_load1 0.5\n" },
    findings: [{ message: "DIR/a.prom: the page has no line of a known GPU exporter", nextStep: notAnExporter }],
    devices: 0,
  },
  {
    name: "the page of a node that the dump does not have",
    files: { ...clean, "a.prom": physicalGpu("GPU-1", "elsewhere") },
    findings: [
      {
        message:
          "DIR/a.prom speaks for node elsewhere, which the Kubernetes API does not have; its 1 devices are left out",
        nextStep:
          "Set NODE_NAME in the exporter's pod (spec.nodeName), or give the target's node in dcgm.targets[].node.",
      },
    ],
    devices: 4,
    shows: ["sums to 4.0"],
  },
  {
    name: "the same GPU on two nodes",
    files: { ...clean, "a.prom": physicalGpu("GPU-1", "gpu-1"), "b.prom": physicalGpu("GPU-1", "gpu-2") },
    findings: [
      {
        message: "GPU GPU-1 is shown by the exporters of nodes gpu-1 and gpu-2; each is believed for its own node only",
        nextStep:
          "Check what the exporter on gpu-2 reads (a remote host engine?), and compare with nvidia-smi -L on both nodes.",
      },
    ],
    devices: 4,
  },
  {
    name: "3,000 GPUs in one page",
    files: { "a.prom": Array.from({ length: 3000 }, (_, i) => physicalGpu(`GPU-${i}`, "gpu-1", i)).join("") },
    findings: [
      {
        message: "DIR/a.prom: the page speaks for more than 64 GPUs or 16 instances a GPU; the rest is not read",
        nextStep: "A node has no such number of GPUs: look at what answers at this address.",
      },
    ],
    devices: 64,
  },
];
