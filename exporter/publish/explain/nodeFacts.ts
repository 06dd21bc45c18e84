import type { Analysis } from "../../analysis/analysis.ts";
import type { NodeView } from "../../join/snapshot.ts";
import { duration, gpus } from "../terminal/columns.ts";
import type { Fact } from "./schema.ts";

/** How a node's numbers came about. */
export function nodeFacts(node: NodeView, { snapshot }: Analysis): Fact[] {
  const { physicalGpus, allocatableGpus, heldByDevices, heldByPods } = node;
  const differ = Math.abs(heldByDevices - heldByPods) > 1e-6;
  return [
    {
      name: "physical GPUs",
      value: physicalGpus === null ? "unknown" : gpus(physicalGpus),
      how:
        physicalGpus === null
          ? "nothing says how many cards it has, so it is left out of the books"
          : `${node.gpuModels.join(", ")}; ${gpus(allocatableGpus ?? 0)} of them can be given out by the scheduler`,
    },
    {
      name: "held",
      value: `${gpus(heldByDevices)} GPUs`,
      how: differ
        ? `by device; the pods on it ask for ${gpus(heldByPods)}: the two books differ by ${gpus(Math.abs(heldByDevices - heldByPods))}`
        : "by device, and the same by what the pods on it ask for",
    },
    { name: "node", value: nodeState(node), how: readyFor(node, snapshot.at) },
    {
      name: "billed as",
      value: node.capacityType ?? "unknown",
      how: `instance type ${node.instanceType ?? "unknown"}, node pool ${node.nodePool || "unknown"}`,
    },
  ];
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
