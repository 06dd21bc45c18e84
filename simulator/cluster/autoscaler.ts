import { nodeLabels } from "../../exporter/model/wellKnown.ts";
import { serves } from "./placement.ts";
import { removeNode, restartExporter } from "./removePod.ts";
import { nextUid, type SimNode, type SimPod, type World, wallClock } from "./world.ts";

/** Seconds for which a cordoned node must have been empty before it is removed. */
const emptySeconds = 60;

/** Seconds for which a pod must have waited before a machine for it is ready. */
const bootSeconds = 180;

/**
 * A node autoscaler like Karpenter. In its pools, it removes nodes that nobody can use and nobody uses, and nodes that have
 * been empty for the `consolidateAfter` of their NodePool. It brings one of them back when a pod waits that would fit on it. It
 * neither empties nodes nor adds more than there were.
 */
export function scaleNodes(world: World): void {
  const { autoscaledPools } = world.scenario;
  if (autoscaledPools === undefined) return;
  const isScaled = ({ spec }: SimNode): boolean => {
    const pool = spec.labels[nodeLabels.karpenterNodePool];
    return pool !== undefined && autoscaledPools.includes(pool);
  };
  const afterSeconds = new Map(
    (world.scenario.nodePools ?? []).map(({ name, consolidateAfter }) => [name, secondsOf(consolidateAfter)]),
  );
  for (const node of world.nodes) {
    if (!isScaled(node)) continue;
    node.unusedSince = isEmpty(node) ? (node.unusedSince ?? world.time) : null;
    const after = afterSeconds.get(node.spec.labels[nodeLabels.karpenterNodePool] ?? "") ?? Number.POSITIVE_INFINITY;
    if (node.unusedSince !== null && world.time - node.unusedSince >= after) removeNode(world, node);
    else removeWhenEmpty(world, node);
  }
  for (const pod of world.waiting) {
    if (pod.workload.admittedAt === null || wallClock(world) - pod.createdAt < bootSeconds) continue;
    const spare = [...world.spareNodes].find((node) => isScaled(node) && wouldFit(node, pod));
    if (spare === undefined) continue;
    addNode(world, spare);
    // Nodes are added one at a time: the next step shows which pods still wait.
    return;
  }
}

/** Seconds of a duration such as `10m`, as Karpenter writes it; infinite for `Never`. */
function secondsOf(duration: string): number {
  const [, amount, unit] = /^(\d+)([smh])$/.exec(duration) ?? [];
  return amount === undefined
    ? Number.POSITIVE_INFINITY
    : Number(amount) * (unit === "h" ? 3600 : unit === "m" ? 60 : 1);
}

function removeWhenEmpty(world: World, node: SimNode): void {
  if (!(node.spec.cordoned || node.tainted) || !isEmpty(node)) {
    node.emptySince = null;
    return;
  }
  node.emptySince ??= world.time;
  if (world.time - node.emptySince >= emptySeconds) removeNode(world, node);
}

/** Whether no pod of a workload is on the node. */
export function isEmpty(node: SimNode): boolean {
  return (
    node.freeCpuMilli === node.spec.cpuMilli &&
    node.physicalGpus.every((physicalGpu) => physicalGpu.allocations.size === 0)
  );
}

/** Whether a pod fits on the node while nobody else is there. */
function wouldFit(node: SimNode, { workload }: SimPod): boolean {
  const { request, models, cpuMilli, memoryMiB } = workload.spec;
  const physicalGpus = node.spec.physicalGpus.filter((model) => models.length === 0 || models.includes(model));
  const isLarge = cpuMilli <= node.spec.cpuMilli && memoryMiB <= node.spec.memoryMiB;
  return request.kind === "physicalGpus" && isLarge && serves(node, workload) && request.count <= physicalGpus.length;
}

/** Adds a machine like the one that was removed: another node object with the same name. */
function addNode(world: World, node: SimNode): void {
  world.spareNodes.delete(node);
  node.uid = nextUid(world);
  node.createdAt = wallClock(world);
  node.readyChangedAt = node.createdAt;
  node.lost = false;
  node.tainted = false;
  node.emptySince = null;
  node.unusedSince = null;
  node.spec = { ...node.spec, cordoned: false };
  restartExporter(world, node);
  world.nodes = [...world.nodes, node];
  world.nodesByName = new Map(world.nodes.map((each) => [each.spec.name, each]));
}
