import { z } from "zod";
import { nodePoolManagers } from "../../model/nodePools.ts";
import { gpus, seconds } from "./schemaParts.ts";

const nodes = z.number().int().min(0);

/** A node pool of the cloud or of an autoscaler. */
export const nodePool = z
  .strictObject({
    nodePool: z.string(),
    manager: z.enum(nodePoolManagers).describe("Who adds and removes its nodes; `none` without a node pool."),
    capacityTypes: z
      .array(z.enum(["on-demand", "spot", "reserved"]))
      .describe("Those that its object allows; empty: all of them, or not known."),
    nodes: nodes.describe("Nodes that have, had or should have GPUs."),
    physicalGpus: gpus,
    limitGpus: gpus.nullable().describe("The most that its nodes may have together; null without a limit on GPUs."),
    minNodes: nodes.nullable().describe("The fewest nodes; null where nothing says."),
    maxNodes: nodes.nullable().describe("The most nodes; null where nothing says."),
    consolidationPolicy: z
      .string()
      .nullable()
      .describe("When Karpenter takes nodes away; null: it does not, or not known."),
    consolidateAfterSeconds: seconds.nullable().describe("How long it waits before; null: never, or not known."),
    idleUnallocated: nodes.describe("Nodes on which nothing holds a GPU; warm ones are not among them."),
    idleAllocated: nodes.describe("Nodes on which all that is allocated is idle; warm ones are not among them."),
    warm: nodes.describe("Nodes that are kept ready on purpose, idle or not."),
  })
  .meta({ id: "NodePool", description: "Nodes that the cloud or an autoscaler adds and removes together." });
