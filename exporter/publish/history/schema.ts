import { z } from "zod";
import { costDimensions } from "../../history/costs.ts";
import { totalsDimensions } from "../../history/history.ts";
import { waterfallLevels } from "../../history/waterfall.ts";
import { chargeBases } from "../../model/charge.ts";
import { gpuStates } from "../../model/gpuStates.ts";

const amount = z.number().min(0);
const time = z.iso.datetime();
const costs = z.record(z.string(), amount).describe("By currency; what has no price is in none.");
const source = z.object({
  name: z.string().describe("The ledger's file, or the server's address."),
  kind: z.enum(["ledger", "prometheus"]),
});

const head = {
  from: time,
  to: time.describe("End of the window, itself not in it."),
  source: source.describe("Who answered."),
  coverage: z
    .object({ windowSeconds: amount, coveredSeconds: amount, ratio: z.number().min(0).max(1) })
    .describe("How much of the window is counted; what is not covered is in no sum."),
};

const sums = {
  gpuSeconds: amount,
  costs,
  unpricedGpuSeconds: amount.nullable().describe("Part of it without a price; null where the server cannot say."),
};

const names = (dimensions: readonly string[]) =>
  Object.fromEntries(dimensions.map((name) => [name, z.string().nullable().optional()]));

/** The schema of the answer of `/api/v1/history`, for openapi.json. */
export const historySchema = z
  .object({
    ...head,
    by: z.array(z.enum(totalsDimensions)),
    total: z.number().int(),
    items: z.array(z.object({ ...names(totalsDimensions), ...sums })),
  })
  .meta({ id: "HistoryAnswer", description: "GPU time and cost of a window, from the ledger or a Prometheus server." });

const drop = z.object({ state: z.enum(gpuStates), allocated: z.boolean().describe("It was allocated."), ...sums });

/** The schema of the answer of `/api/v1/waterfall`. */
export const waterfallSchema = z
  .object({
    ...head,
    unpricedGpuSeconds: amount.nullable(),
    stages: z
      .array(z.object({ level: z.enum(waterfallLevels), ...sums, drops: z.array(drop) }))
      .describe("Each level is the next one and its own drops."),
  })
  .meta({ id: "Waterfall", description: "Where the GPU time of a window went, from capacity down to what was used." });

const parts = z.object({
  charged: amount.describe("What it pays for its own."),
  platform: amount.describe("What was allocated to it and nobody pays for."),
  shared: amount.describe("Its share of what was allocated to nobody."),
});

/** The schema of the answer of `/api/v1/costs`. */
export const costsSchema = z
  .object({
    ...head,
    by: z.array(z.enum(costDimensions)),
    charge: z.enum(chargeBases),
    notCharged: z.array(z.string()),
    shareUnallocated: z.literal("allocation").nullable(),
    total: z.number().int(),
    items: z.array(
      z.object({ ...names(costDimensions), allocatedGpuSeconds: amount, costs: z.record(z.string(), parts) }),
    ),
    unallocated: costs.describe("What nobody allocated and nobody pays for."),
    bill: costs.describe("All parts of all items, and what is unallocated."),
  })
  .meta({ id: "Costs", description: "What a window cost, divided; the parts add up to the bill." });

const forecast = z.object({
  low: z.number().nullable(),
  mid: z.number(),
  high: z.number().nullable(),
  days: z.number().int().describe("Days that were covered at least by half."),
});

/** The schema of the answer of `/api/v1/budgets`. */
export const budgetsSchema = z
  .object({
    at: time,
    source,
    total: z.number().int(),
    items: z.array(
      z.object({
        team: z.string(),
        perMonth: amount,
        currency: z.string(),
        month: z.string(),
        spent: amount.nullable(),
        forecast: forecast.nullable(),
        burnRate: amount.nullable(),
        coveredRatio: z.number().min(0).max(1).nullable(),
        otherCurrencies: z.array(z.string()),
      }),
    ),
  })
  .meta({ id: "Budgets", description: "Budgets of this calendar month (UTC): spent, forecast, burn rate." });
