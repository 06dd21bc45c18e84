import type { Queueing, QueueView, WaitingGang, WaitingPart } from "../../../exporter/join/queues/queueing.ts";
import { noQueueing } from "../../../exporter/join/queues/queueing.ts";
import type { Device, NodeView, Snapshot } from "../../../exporter/join/snapshot.ts";
import type { ResourceAmounts } from "../../../exporter/model/node.ts";
import type { PodNeeds } from "../../../exporter/model/queues/podNeeds.ts";
import { now } from "../../join/clusterBuilder.ts";
import { podNeeds } from "../../queues/kueueRows.ts";
import { gangView, queueView, quotaDomain } from "../../queues/queueView.ts";
import { device, holding, moment, nodeView, podView } from "../momentBuilder.ts";

/** The leaf `research` in domain 0, without limits. */
export const leaf = (parts: Partial<QueueView> = {}): QueueView => queueView({ name: "research", ...parts });

/** Pods with whole GPUs in queue 0 of domain 0. */
export function part(pods: number, gpusPerPod: number | null, parts: Partial<WaitingPart> = {}): WaitingPart {
  const needs = podNeeds({ "nvidia.com/gpu": gpusPerPod ?? 1 });
  return { queue: 0, domain: 0, pods, createdPods: 0, gpusPerPod, needs, ...parts };
}

/** A gang of all members of its parts, that has waited for 10 minutes for a scheduler without reservations. */
export function waitingGang(waiting: readonly WaitingPart[], parts: Partial<WaitingGang> = {}): WaitingGang {
  const pods = waiting.reduce((sum, one) => sum + one.pods, 0);
  const sizes = waiting.map((one) => (one.gpusPerPod === null ? null : one.pods * one.gpusPerPod));
  const gpus = sizes.reduce((sum, size) => (sum === null || size === null ? null : sum + size), 0);
  return gangView({
    scheduler: "volcano",
    team: "vision",
    queue: "research",
    since: now - 600,
    min: pods,
    pods,
    gpus,
    parts: waiting,
    ...parts,
  });
}

/** A node by its GPUs: what is allocated of each. */
export interface TestNode extends Partial<NodeView> {
  readonly allocated: readonly number[];
  /** Of all its GPUs. */
  readonly physicalGpu?: Partial<Device>;
  /** CPU that its pods ask for. */
  readonly cpuMilliUsed?: number;
  readonly memoryBytesUsed?: number;
}

/** A cluster of one pool, with all that waits in queue 0 unless `queueing` says more. */
export function waitingMoment(
  nodes: readonly TestNode[],
  gangs: readonly WaitingGang[],
  queueing: Partial<Queueing> = {},
): Snapshot {
  const devices: Device[] = [];
  const views = nodes.map(
    ({ allocated, physicalGpu = {}, cpuMilliUsed: _, memoryBytesUsed: _memory, ...rest }, n): NodeView => {
      const name = rest.name ?? `node-${n}`;
      const indexes = allocated.map((share, i) => {
        const holders = share > 0 ? [holding({ share })] : [];
        return devices.push(device({ node: name, uuid: `GPU-${n}-${i}`, holders, ...physicalGpu })) - 1;
      });
      return nodeView({
        name,
        physicalGpus: allocated.length,
        allocatableGpus: allocated.length,
        ...rest,
        devices: indexes,
      });
    },
  );
  const requests = views.map(({ name }, i) => {
    const { cpuMilliUsed = 0, memoryBytesUsed = 0 } = nodes[i] ?? {};
    const request = { pods: 1, cpuMilli: cpuMilliUsed, memoryBytes: memoryBytesUsed };
    return [name, request] as const;
  });
  const domains = [quotaDomain({ capacity: 0 })];
  const queues = [leaf({ gangs: gangs.map((_gang, i) => i) })];
  return moment({
    nodes: views,
    devices,
    pods: [podView()],
    requestsByNode: new Map(requests),
    queueing: { ...noQueueing, domains, queues, gangs, ...queueing },
  });
}

export const requests = (amounts: ResourceAmounts, parts: Partial<PodNeeds> = {}): { readonly needs: PodNeeds } => ({
  needs: podNeeds(amounts, parts),
});
