import { z } from "zod";
import { capacityTypes } from "../../model/capacityType.ts";
import { nodePoolManagers } from "../../model/nodePools.ts";
import { priceBases, priceSources } from "../../model/prices.ts";
import { gpus, instant, seconds } from "./schemaParts.ts";

const currency = z.string().describe("Currency; amounts of different currencies are never added up.");
const perHour = z.number().min(0);

/** The schema of `pools[].price`: what the GPUs of a pool cost on average. */
export const poolPrice = z
  .strictObject({
    perGpuHour: perHour.describe("Of one physical GPU: mean over `gpus`, weighted by GPUs."),
    perHour: perHour.describe("Of all of `gpus` together."),
    gpus: gpus.describe("Physical GPUs that have a price in this currency."),
    currency: currency.describe("The currency in which most GPUs of the pool have a price."),
    basis: z.enum(priceBases).nullable().describe("What the prices contain; null where they differ."),
    source: z.enum(priceSources).nullable().describe("Where they come from; null where they differ."),
    date: instant.describe("The oldest one: since when it holds or when it was last checked."),
    isStale: z.boolean().describe("At least one is older than `prices.staleDays`."),
  })
  .meta({ id: "PoolPrice", description: "What the GPUs of a pool cost; `prices` has each price." });

/** The schema of `prices[]`: one price with the nodes that have it, or nodes without a price. */
export const priceGroup = z
  .strictObject({
    pool: z.string(),
    nodePool: z.string(),
    instanceType: z.string().nullable(),
    capacityType: z.enum(capacityTypes).nullable(),
    nodes: z.number().int(),
    physicalGpus: gpus,
    price: z
      .strictObject({
        perGpuHour: perHour.describe("Of one physical GPU."),
        perNodeHour: perHour.describe("Of all GPUs of one node; with basis whole-instance, of the node."),
        currency,
        basis: z.enum(priceBases),
        source: z.enum(priceSources),
        capacityType: z.enum(capacityTypes).describe("Of which it is the price."),
        date: instant.describe("Since when it holds or when it was last checked."),
        isStale: z.boolean(),
        origin: z.string().describe("Where its author found it."),
      })
      .nullable(),
    unpriced: z
      .enum(["unknown-node", "no-price", "no-price-for-capacity-type"])
      .nullable()
      .describe("Why there is no price; null where there is one."),
  })
  .meta({ id: "PriceGroup", description: "Nodes that are paid for alike, with their price." });

const nodes = z.number().int().min(0);

/** A node pool of the cloud or of an autoscaler. */
export const nodePool = z
  .strictObject({
    nodePool: z.string(),
    manager: z.enum(nodePoolManagers).describe("Who adds and removes its nodes; `none` without a node pool."),
    capacityTypes: z
      .array(z.enum(["on-demand", "spot", "reserved"]))
      .nullable()
      .describe("Those that its object allows; empty: none of them; null: all of them, or not known."),
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
