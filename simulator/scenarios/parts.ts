import { nodeLabels } from "../../exporter/model/wellKnown.ts";
import type { GpuModelName } from "../gpuModels.ts";
import type {
  ActivityPattern,
  ExporterSpec,
  GpuRequest,
  NodeMode,
  NodeSpec,
  WorkloadKind,
  WorkloadSpec,
} from "../scenario.ts";

/** An exporter of this generation with the operator's counters; other settings can be given. */
export function exporterOf(dialect: ExporterSpec["dialect"], changes: Partial<ExporterSpec> = {}): ExporterSpec {
  return {
    dialect,
    counters: "operator",
    sharedRows: "one-arbitrary-pod",
    draLabels: false,
    portName: "metrics",
    ...changes,
  };
}

/** A node with `count` GPUs of one model, sized like the usual cloud machine for it; other settings can be given. */
export function gpuNode(
  name: string,
  model: GpuModelName,
  count: number,
  mode: NodeMode,
  changes: Partial<NodeSpec> = {},
): NodeSpec {
  return {
    name,
    physicalGpus: Array.from({ length: count }, () => model),
    mode,
    exporter: exporterOf("4.5"),
    cpuMilli: count * 24_000,
    memoryMiB: count * 245_760,
    instanceType: null,
    zone: null,
    labels: {},
    featureDiscovery: true,
    cordoned: false,
    ready: true,
    ...changes,
  };
}

/** A request for whole GPUs. */
export const physicalGpus = (count: number) => ({ kind: "physicalGpus", count }) as const;

/** A workload of pods without a queue; CPU and memory follow the GPUs asked for. */
export function workloadOf(
  kind: WorkloadKind,
  namespace: string,
  pods: number,
  request: GpuRequest,
  activity: ActivityPattern,
  changes: Partial<WorkloadSpec> = {},
): WorkloadSpec {
  const count = "count" in request ? request.count : 1;
  const big = request.kind === "physicalGpus" || request.kind === "claim" || request.kind === "extended-resource";
  return {
    kind,
    namespace,
    pods,
    request,
    models: [],
    cpuMilli: count * (big ? 8_000 : 1_000),
    memoryMiB: count * (big ? 65_536 : 8_192),
    gang: false,
    priorityClass: null,
    queue: null,
    activity,
    labels: {},
    ...changes,
  };
}

/** Labels of an EKS managed node group. */
export function eksLabels(group: string, capacityType: "ON_DEMAND" | "SPOT"): Readonly<Record<string, string>> {
  return { [nodeLabels.eksNodeGroup]: group, [nodeLabels.eksCapacityType]: capacityType };
}

/** Labels of a Karpenter node pool. */
export function karpenterLabels(
  pool: string,
  type: "on-demand" | "spot" | "reserved",
): Readonly<Record<string, string>> {
  return { [nodeLabels.karpenterNodePool]: pool, [nodeLabels.karpenterCapacityType]: type };
}
