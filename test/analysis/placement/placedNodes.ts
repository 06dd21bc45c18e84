import { measurePlacement } from "../../../exporter/analysis/placement/measurePlacement.ts";
import type { Placement, PoolPlacement } from "../../../exporter/analysis/placement/poolPlacement.ts";
import type { TargetShape } from "../../../exporter/config/moneySchema.ts";
import type { Device, PodView, Snapshot } from "../../../exporter/join/snapshot.ts";
import type { NodeRequests } from "../../../exporter/model/cluster.ts";
import { type FragmentationCause, fragmentationCauses } from "../../../exporter/model/fragmentation.ts";
import { device, holding, moment, nodeView, podView } from "../momentBuilder.ts";
import { type NaiveAmounts, type NaiveNode, type NaiveTask, noAmounts } from "./naiveFragmentation.ts";

/** What pods beside those with GPUs take of every node, so that what is free is a difference. CPU milli and bytes. */
const taken: NodeRequests = { pods: 3, cpuMilli: 7000, memoryBytes: 2 ** 30 };

/** A moment in which nodes have this left; one pod per GPU holds what is not free of it. */
export function snapshotOfNodes(nodes: readonly NaiveNode[], more: Partial<Snapshot> = {}): Snapshot {
  const pods: PodView[] = [...(more.pods ?? [])];
  const devices: Device[] = [];
  const requestsByNode = new Map<string, NodeRequests>();
  const views = nodes.map((node, n) => {
    const name = `n${n}`;
    requestsByNode.set(name, taken);
    const first = devices.length;
    for (const [physicalGpu, free] of node.free.entries()) {
      const holders = free === 1 ? [] : [holding({ pod: pods.length, share: 1 - free })];
      if (free < 1)
        pods.push(
          podView({ uid: `${name}-${physicalGpu}`, name: `${name}-${physicalGpu}`, node: name, gpus: 1 - free }),
        );
      devices.push(
        device({ node: name, uuid: `${name}-${physicalGpu}`, model: node.model, pool: node.model, holders }),
      );
    }
    return nodeView({
      name,
      gpuModels: [node.model],
      pools: [node.model],
      physicalGpus: node.free.length,
      allocatableGpus: node.free.length,
      allocatableCpuMilli: node.cpu + taken.cpuMilli,
      allocatableMemoryBytes: node.memory + taken.memoryBytes,
      devices: node.free.map((_, physicalGpu) => first + physicalGpu),
    });
  });
  return moment({ ...more, nodes: views, devices, pods, requestsByNode });
}

/** A task as the configuration says it; popularities count relative to each other. */
export function configured(tasks: readonly NaiveTask[]): readonly TargetShape[] {
  return tasks.map(({ cpu, memory, gpus, share, models, popularity }) => ({
    gpus: gpus * share,
    cpu: cpu / 1000,
    memoryBytes: memory,
    nodeSelector: {},
    models: [...models],
    popularity,
  }));
}

/** How these nodes are judged for these tasks. */
export function judged(nodes: readonly NaiveNode[], tasks: readonly NaiveTask[]): Placement {
  return measurePlacement(snapshotOfNodes(nodes), { targetWorkload: configured(tasks), ended: null });
}

/** The expected fragmentation of pools together, as the naive one says it. */
export function amountsOf(pools: readonly PoolPlacement[]): NaiveAmounts {
  const sums = noAmounts();
  let free = 0;
  let unusable = 0;
  for (const { expected, freeGpus, sharedFreeGpus } of pools) {
    free += freeGpus + sharedFreeGpus;
    unusable += expected.gpus;
    for (const cause of fragmentationCauses) sums[cause] += expected.byCause[cause] ?? 0;
  }
  sums.satisfied = free - unusable;
  return sums;
}

/** Every cause, 0 where an answer leaves it out. */
export function allCauses(byCause: Readonly<Partial<Record<FragmentationCause, number>>>) {
  return Object.fromEntries(fragmentationCauses.map((cause) => [cause, byCause[cause] ?? 0]));
}
