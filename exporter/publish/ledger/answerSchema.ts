import { z } from "zod";
import { accountDimensions } from "../../accounts/ledger/accountsQuery.ts";
import { ledgerTables } from "../../accounts/ledger/ledgerTableQuery.ts";
import { priceFilters } from "../../accounts/ledger/priceQuery.ts";

const amount = z.number().min(0);

const sums = {
  gpuSeconds: amount,
  estimatedGpuSeconds: amount.describe("Of these, of holdings whose device or split of activity is estimated."),
  energyJoules: amount.nullable().describe("null when none of it was metered."),
  meteredGpuSeconds: amount.describe("GPU-seconds for which the energy is known."),
  pricedGpuSeconds: amount.describe("GPU-seconds that had a price; the rest is in no cost."),
  cost: amount.nullable().describe("The one of `costs`; null without any, and where there are several currencies."),
  costs: z
    .record(z.string(), amount)
    .describe(
      "Cost by currency, at the prices of the time at which it was counted; empty when none of it had a price.",
    ),
};

const group = z
  .object({ ...Object.fromEntries(accountDimensions.map((name) => [name, z.string().nullable().optional()])), ...sums })
  .describe("One group: the dimensions that were asked for (null: none), and its sums.");

const time = z.iso.datetime();

/** An answer of the ledger, for openapi.json. */
export const ledgerAnswerSchema = z
  .object({
    from: time,
    to: time.describe("End of the window, itself not in it."),
    by: z.array(z.enum(accountDimensions)),
    total: z.number().int().describe("Groups that there are, those left out by `limit` included."),
    items: z.array(group),
    totals: z.object(sums).describe("Sums of all groups."),
    coverage: z
      .object({
        windowSeconds: amount,
        coveredSeconds: amount,
        ratio: z.number().min(0).max(1),
        gaps: z.array(z.object({ from: time, to: time, reason: z.string() })),
        gapsLeftOut: z.number().int(),
      })
      .describe("How much of the window is counted; what is not covered is in no sum."),
  })
  .meta({ id: "LedgerAnswer", description: "Counted GPU time of a window." });

/** An answer of a ledger table, for openapi.json. */
export const ledgerTableSchema = z
  .object({
    of: z.enum(ledgerTables),
    from: time,
    to: time,
    by: z.array(z.string()),
    total: z.number().int(),
    items: z
      .array(z.record(z.string(), z.union([z.string(), z.number()]).nullable()))
      .describe("One group: the dimensions that were asked for, and its amounts (docs/ledger.md)."),
    totals: z.record(z.string(), z.number().nullable()),
    coverage: z.record(z.string(), z.unknown()),
  })
  .meta({
    id: "LedgerQueueAnswer",
    description:
      "What happened in queues and quota domains, to nodes and free GPUs, or with recommendations, within a window.",
  });

/** The prices that were used, for openapi.json. */
export const ledgerPriceAnswerSchema = z
  .object({
    of: z.literal("prices"),
    from: time,
    to: time,
    total: z.number().int(),
    items: z.array(
      z.object({
        ...Object.fromEntries(priceFilters.map((name) => [name, z.string().nullable()])),
        perGpuHour: amount.nullable().describe("Of one physical GPU; null: these nodes had no price."),
        dated: z.iso.date().nullable().describe("The price's own date when its use began."),
        begins: time.describe("Since when it was used."),
        ends: time.nullable().describe("Until when; null: it still is."),
      }),
    ),
  })
  .meta({ id: "LedgerPriceAnswer", description: "The prices at which GPU time of a window was counted." });
