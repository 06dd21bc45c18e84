import type { Analysis } from "../../analysis/analysis.ts";
import type { NodeView, Snapshot } from "../../join/snapshot.ts";
import { duration, gpus } from "../terminal/columns.ts";
import type { Fact } from "./schema.ts";

/** How a node's numbers came about. */
export function nodeFacts(node: NodeView, analysis: Analysis): Fact[] {
  const { snapshot } = analysis;
  const { physicalGpus, allocatableGpus } = node;
  return [
    {
      name: "physical GPUs",
      value: physicalGpus === null ? "unknown" : gpus(physicalGpus),
      how:
        physicalGpus === null
          ? "nothing says how many GPUs it has, so it is left out of the accounts"
          : `${node.gpuModels.join(", ")}; ${gpus(allocatableGpus ?? 0)} of them can be given out by the scheduler`,
    },
    allocatedFact(node, snapshot),
    { name: "node", value: nodeState(node), how: readyFor(node, snapshot.at) },
    {
      name: "billed as",
      value: node.capacityType ?? "unknown",
      how: `instance type ${node.instanceType ?? "unknown"}, node pool ${node.nodePool || "unknown"}`,
    },
    ...idleFacts(node, analysis),
  ];
}

function allocatedFact({ allocatedByDevices, allocatedByPods, devices }: NodeView, snapshot: Snapshot): Fact {
  const name = "allocated";
  if (!snapshot.coverage.objects) {
    const seen = devices.some((index) => (snapshot.devices[index]?.reading ?? null) !== null);
    return seen
      ? {
          name,
          value: `${gpus(allocatedByDevices)} GPUs`,
          how: "by the pod labels of its telemetry alone: no pods were read",
        }
      : { name, value: "unknown", how: "no pods were read, and no telemetry row of it" };
  }
  const difference = Math.abs(allocatedByDevices - allocatedByPods);
  return {
    name,
    value: `${gpus(allocatedByDevices)} GPUs`,
    how:
      difference > 1e-6
        ? `by device; the pods on it ask for ${gpus(allocatedByPods)}: the two accounts differ by ${gpus(difference)}`
        : "by device, and the same by what the pods on it ask for",
  };
}

/** Facts about a node that is idle or kept warm; none for other nodes, and none where this is unknown. */
function idleFacts(node: NodeView, { snapshot, idleNodes }: Analysis): Fact[] {
  if (!snapshot.coverage.objects) return [];
  const index = snapshot.nodes.indexOf(node);
  const idle = idleNodes.nodes.find((one) => one.node === index);
  const warm = idleNodes.warm.has(index) ? "; it is kept ready on purpose (idle.warmPools)" : "";
  if (idle === undefined)
    return warm === "" ? [] : [{ name: "idle", value: "no", how: `something works there${warm}` }];
  const what = idle.kind === "unallocated" ? "nothing holds a GPU there" : "everything that is allocated there is idle";
  return [{ name: "idle", value: `${idle.kind} for ${duration(snapshot.at - idle.since)}`, how: `${what}${warm}` }];
}

function nodeState({ ready, schedulable }: NodeView): string {
  if (ready === null) return "not read from the API";
  if (!ready) return "not Ready";
  return schedulable === false ? "cordoned" : "Ready";
}

function readyFor({ notReadySince, createdAt }: NodeView, at: number): string {
  if (notReadySince !== null) return `not Ready for ${duration(at - notReadySince)}`;
  return createdAt === null ? "its age is not known" : `it was created ${duration(at - createdAt)} ago`;
}
