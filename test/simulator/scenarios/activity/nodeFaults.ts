import type { Fault } from "../../../../simulator/faults.ts";
import { gpuModels } from "../../../../simulator/gpuModels.ts";
import type { RandomStream } from "../../../../simulator/random.ts";
import type { LaterFault, NodeSpec } from "../../../../simulator/scenario.ts";

const minute = 60;

/** Something that happens to one GPU of a node, or to its page, and what a reader should learn of it. */
export interface NodeFault {
  readonly name: string;
  /** The cause of GPU time that is lost (`unavailable`) or slowed down; `null`: none. */
  readonly cause: string | null;
  readonly isSlow: boolean;
  /** It takes the whole node away, and its page. */
  readonly ofNode: boolean;
  /** It takes from the page what shows whether GPUs are stalled; or all of it. */
  readonly hides: "nothing" | "stalls" | "page";
  /** `maxWatts` is what the GPU draws at most. */
  readonly fault: (node: string, physicalGpu: number, maxWatts: number) => Fault;
}

const usual = { cause: null, isSlow: false, ofNode: false, hides: "nothing" } as const;

/** By NVIDIA's catalog, and what its device plugin leaves in service (reference: activity and health). */
const xid = (code: number, cause: string | null): NodeFault => ({
  ...usual,
  name: `XID ${code}`,
  cause,
  fault: (node, physicalGpu) => ({ kind: "gpu-xid", node, physicalGpu, code }),
});

const slowed = (name: string, reasons: number, cause: string | null): NodeFault => ({
  ...usual,
  name,
  cause,
  isSlow: true,
  fault: (node, physicalGpu, maxWatts) => ({ kind: "gpu-slowed", node, physicalGpu, reasons, watts: maxWatts / 4 }),
});

const ofPage = (
  name: string,
  kind: "exporter-frozen" | "exporter-empty" | "exporter-error" | "profiling-stuck",
): NodeFault => ({
  ...usual,
  name,
  hides: kind === "profiling-stuck" ? "stalls" : "page",
  fault: (node) => ({ kind, target: { node } }),
});

const nodeFaults = [
  xid(48, "ecc"),
  xid(63, "remap_pending"),
  xid(64, "remap_failed"),
  xid(74, "nvlink"),
  xid(79, "gpu_lost"),
  xid(94, "ecc"),
  xid(119, "gpu_reset"),
  xid(13, null),
  xid(31, null),
  xid(43, null),
  xid(45, null),
  xid(109, null),
  {
    ...usual,
    name: "a GPU falls off the bus",
    cause: "gpu_lost",
    fault: (node, physicalGpu) => ({ kind: "gpu-lost", node, physicalGpu }),
  },
  {
    ...usual,
    name: "a node is lost",
    cause: "node",
    ofNode: true,
    hides: "page",
    fault: (node) => ({ kind: "node-lost", node }),
  },
  slowed("slowed down by heat (0x40)", 0x40, "thermal"),
  slowed("slowed down by heat (0x20)", 0x20, "thermal"),
  slowed("slowed down by a power brake (0x80)", 0x80, "power"),
  slowed("slowed down by its hardware (0x8)", 0x8, "hardware_slowdown"),
  slowed("lower clocks that someone set (0x2)", 0x2, null),
  {
    ...usual,
    name: "a power limit of half",
    fault: (node, physicalGpu, maxWatts) => ({ kind: "gpu-capped", node, physicalGpu, watts: maxWatts / 2 }),
  },
  ofPage("a frozen page", "exporter-frozen"),
  ofPage("an empty page", "exporter-empty"),
  ofPage("an exporter that fails", "exporter-error"),
  ofPage("locked profiling", "profiling-stuck"),
  ofPage("locked profiling", "profiling-stuck"),
] as const satisfies readonly NodeFault[];

/** A fault of a mixed cluster; times are seconds after its start. */
export interface PlannedFault {
  readonly node: string;
  /** Index of the GPU on its node. */
  readonly physicalGpu: number;
  readonly maxWatts: number;
  readonly is: NodeFault;
  readonly begins: number;
  readonly ends: number;
}

/** Draws a fault of one of a node's GPUs, or of its page, for one to two hours. */
export function drawFault(random: RandomStream, { name: node, physicalGpus }: NodeSpec): PlannedFault {
  const physicalGpu = random.between(0, physicalGpus.length - 1);
  const maxWatts = gpuModels[physicalGpus[physicalGpu] ?? "H100"].maxWatts;
  const begins = random.between(10, 50) * minute;
  const [first, ...others] = nodeFaults;
  const is = random.pick<NodeFault>([first, ...others]);
  return { node, physicalGpu, maxWatts, is, begins, ends: begins + random.between(60, 110) * minute };
}

/** The same in the words of the simulator. */
export const laterFault = ({ is, node, physicalGpu, maxWatts, begins, ends }: PlannedFault): LaterFault => ({
  afterSeconds: begins,
  forSeconds: ends - begins,
  fault: is.fault(node, physicalGpu, maxWatts),
});
