import { z } from "zod";
import { accountDimensions } from "../../accounts/ledger/accountsQuery.ts";
import { queueSubjects } from "../../accounts/ledger/queueQuery.ts";
import { defaultLimit, maxLimit } from "../http/listQuery.ts";

const amount = z.number().min(0);

const sums = {
  gpuSeconds: amount,
  estimatedGpuSeconds: amount.describe("Of these, of holdings whose device or split of activity is estimated."),
  energyJoules: amount.nullable().describe("null when none of it was metered."),
  meteredGpuSeconds: amount.describe("GPU-seconds for which the energy is known."),
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
      .describe("How much of the window is booked; what is not covered is in no sum."),
  })
  .meta({ id: "LedgerAnswer", description: "Booked GPU time of a window." });

/** An answer about queues, waits or evictions, for openapi.json. */
export const ledgerQueueAnswerSchema = z
  .object({
    of: z.enum(queueSubjects),
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
  .meta({ id: "LedgerQueueAnswer", description: "What happened in queues within a window." });

/** The parameters of `/api/v1/ledger`, beside one for each filter. */
export const ledgerParameters = [
  {
    name: "of",
    schema: { type: "string", enum: ["gpu-time", ...queueSubjects], default: "gpu-time" },
    description: "What is asked for; dimensions and filters of queues, waits and evictions are in docs/ledger.md.",
  },
  {
    name: "from",
    schema: { type: "string", default: "7d" },
    description: "Begin: a date (2026-11-21), a time (2026-11-21T07:00Z), or a span before the end (7d, 12h).",
  },
  {
    name: "to",
    schema: { type: "string" },
    description: "End, itself not in it. Default: the end of this hour (UTC).",
  },
  {
    name: "by",
    schema: { type: "string", default: "team,state" },
    description: `Dimensions, separated by commas: ${accountDimensions.join(", ")}. Workloads are kept by whole days.`,
  },
  ...accountDimensions
    .filter((name) => name !== "day" && name !== "hour")
    .map((name) => ({
      name,
      schema: { type: "string" },
      description: `Only this ${name}; may be repeated, empty is none.`,
    })),
  {
    name: "limit",
    schema: { type: "integer", minimum: 1, maximum: maxLimit, default: defaultLimit },
    description: "Groups at most, the largest first within a day or hour.",
  },
];
