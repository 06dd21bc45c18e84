/**
 * The benchmark's cluster as pure functions of numbers, so that the exporters, the API server and the contenders, each in its
 * own process, agree on it without communicating: 8 GPUs and 10 pods on each node, 500 teams, and 1 % of the pods changing in
 * each cycle. All texts have fixed widths, so that objects can be written from templates.
 */
export const gpusPerNode = 8;
export const podsPerNode = 10;
export const teamCount = 500;

/** The widths of these texts in characters: `train-000123`, `team-042`, `gpu-node-00001`. */
export const widths = { node: 14, team: 8, podName: 20, podUid: 36, job: 12, jobUid: 36, version: 10, ip: 15 } as const;

export type PodClass = "exporter" | "cpu" | "gpu1" | "gpu2" | "gpu8";

/** One pod of the fleet, at a place where pods are replaced from generation to generation. */
export interface FleetPod {
  readonly index: number;
  readonly node: number;
  readonly kind: PodClass;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly job: string;
  readonly jobUid: string;
  /** The numbers of its GPUs on its node. */
  readonly gpus: readonly number[];
}

export function digits(value: number, width: number): string {
  return String(value).padStart(width, "0");
}

export function nodeName(node: number): string {
  return `gpu-node-${digits(node, 5)}`;
}

/** The loopback address of a node's exporter: `127.1AB.1CD.1EF` for node ABCDEF. */
export function nodeAddress(node: number): string {
  const six = digits(node, 6);
  return `127.1${six.slice(0, 2)}.1${six.slice(2, 4)}.1${six.slice(4)}`;
}

/** The node whose exporter has this address. */
export function nodeOfAddress(address: string): number {
  const [, a = "", b = "", c = ""] = address.slice(address.lastIndexOf(":") + 1).split(".");
  return Number(a.slice(1) + b.slice(1) + c.slice(1));
}

export function gpuUuid(node: number, gpu: number): string {
  return `GPU-${digits(node, 8)}-0000-4000-8000-${digits(gpu, 12)}`;
}

export function teamName(team: number): string {
  return `team-${digits(team, 3)}`;
}

/**
 * How the GPUs of a node are allocated: to 8 pods with one each, to 4 with two, to one with eight, or to none (every 20th node
 * is free).
 */
export function holdersOf(node: number): {
  readonly pods: number;
  readonly gpusEach: 1 | 2 | 8;
  readonly kind: PodClass;
} {
  if (node % 20 === 19) return { pods: 0, gpusEach: 1, kind: "gpu1" };
  if (node % 3 === 0) return { pods: 8, gpusEach: 1, kind: "gpu1" };
  if (node % 3 === 1) return { pods: 4, gpusEach: 2, kind: "gpu2" };
  return { pods: 1, gpusEach: 8, kind: "gpu8" };
}

/** The number of the job of the pods with GPUs on a node. Jobs have 8 or 4 pods on one node, or 4 pods on 4 nodes. */
function jobNumber(node: number): number {
  return node % 3 === 2 ? 500_000 + Math.floor(node / 12) : node;
}

/** Pod number `index` of the fleet, after it was replaced `generation` times. */
export function podAt(index: number, generation: number): FleetPod {
  const node = Math.floor(index / podsPerNode);
  const slot = index % podsPerNode;
  const { pods, gpusEach, kind } = holdersOf(node);
  const holds = slot >= 1 && slot <= pods;
  const job = holds ? jobNumber(node) : index % 1_000_000;
  const gpus = holds ? Array.from({ length: gpusEach }, (_, at) => (slot - 1) * gpusEach + at) : [];
  const isExporter = slot === 0;
  return {
    index,
    node,
    kind: isExporter ? "exporter" : holds ? kind : "cpu",
    namespace: isExporter ? "gpu-operator" : teamName(scatter(job) % teamCount),
    name: `${holds ? "train" : "serve"}-${digits(index, 7)}-${digits(generation, 6)}`,
    uid: `${digits(index, 8)}-0000-4000-8000-${digits(generation, 12)}`,
    job: `train-${digits(job, 6)}`,
    jobUid: jobUid(digits(job, 6)),
    gpus,
  };
}

/** The UID of the job with this number. */
export function jobUid(number: string): string {
  return `00000000-0000-4000-9000-${number.padStart(12, "0")}`;
}

/**
 * What happens to a pod in a cycle. For 99 pods in 100 this is nothing; otherwise the pod's status changes, or another pod
 * takes its place.
 */
export function changeOf(index: number, cycle: number): "none" | "modified" | "replaced" {
  const hash = scatter(index);
  if (hash % 100 !== cycle % 100) return "none";
  return index % podsPerNode !== 0 && (hash >>> 8) % 2 === 0 ? "replaced" : "modified";
}

/** Spreads numbers evenly (Knuth's multiplicative hash, and a fold so that low bits depend on high ones). */
export function scatter(value: number): number {
  const hash = Math.imul(value + 1, 2_654_435_761) >>> 0;
  return (hash ^ (hash >>> 15)) >>> 0;
}
