import { z } from "zod";
import { capacityTypes } from "../../model/capacityType.ts";
import { priceBases, priceSources } from "../../model/prices.ts";
import { gpus, instant } from "./schemaParts.ts";

const currency = z.string().describe("Currency; amounts of different currencies are never added up.");
const perHour = z.number().min(0);

/** What the GPUs of a pool cost on average; of `pools[].price`. */
export const poolPrice = z
  .strictObject({
    perGpuHour: perHour.describe("Of one physical GPU: mean over `gpus`, weighted by GPUs."),
    perHour: perHour.describe("Of all of `gpus` together."),
    gpus: gpus.describe("Physical GPUs that have a price in this currency."),
    currency: currency.describe("The currency in which most GPUs of the pool have a price."),
    basis: z.enum(priceBases).nullable().describe("What the prices stand for; null where they differ."),
    source: z.enum(priceSources).nullable().describe("Where they come from; null where they differ."),
    date: instant.describe("The oldest one: since when it holds or when it was last checked."),
    isStale: z.boolean().describe("At least one is older than `prices.staleDays`."),
  })
  .meta({ id: "PoolPrice", description: "What the GPUs of a pool cost; `prices` has each price." });

/** One price with the nodes that have it, or nodes without one; of `prices`. */
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
