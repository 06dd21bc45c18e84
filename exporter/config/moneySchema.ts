import { z } from "zod";
import { allocatedTimeStates } from "../model/gpuStates.ts";
import { priceBases } from "../model/prices.ts";
import { prometheusServer } from "./prometheusSchema.ts";

const amount = z.number().min(0).max(1e12);
const currency = z
  .string()
  .regex(/^[A-Za-z][A-Za-z0-9_-]{0,15}$/, "expected a short word such as USD")
  .describe("Currency, such as `USD`; a word that is shown as it is, and never converted.");

/** The settings of a server that is queried for numbers: its address and how it is reached. */
const askedServer = prometheusServer.pick({
  url: true,
  auth: true,
  caFile: true,
  insecureSkipVerify: true,
  headers: true,
  matchers: true,
  timeoutSeconds: true,
  maxAnswerBytes: true,
});

/** The settings of the price list: `prices` in the configuration. */
export const pricesSchema = z.strictObject({
  file: z
    .string()
    .min(1)
    .optional()
    .describe("Your own prices (`prices.example.yaml` shows the format); they come before all others."),
  table: z
    .boolean()
    .default(true)
    .describe("Use the dated table of list prices that Fairlead brings, where no better price is known."),
  basis: z
    .enum(priceBases)
    .default("whole-instance")
    .describe(
      "What a GPU's price contains: the whole node divided by its GPUs, or (`gpu-share`) only the GPUs' part of it, where a source has that.",
    ),
  staleDays: z.number().int().min(1).max(3650).default(60).describe("A price that is older is shown as stale."),
  openCost: askedServer
    .extend({
      nodeLabel: z
        .string()
        .regex(/^(?!__)[a-zA-Z_][a-zA-Z0-9_]{0,99}$/, "expected the name of a label")
        .default("node")
        .describe("Label of OpenCost's series that holds the name of the node."),
      currency: currency.default("USD").describe("Currency in which OpenCost counts."),
      maxAgeSeconds: z
        .number()
        .min(60)
        .max(604_800)
        .default(86_400)
        .describe("How long the last price of a node is used when the server does not answer."),
    })
    .optional()
    .describe(
      "A Prometheus-compatible server that has OpenCost's `node_gpu_hourly_cost` and `node_total_hourly_cost`.",
    ),
});

/** The settings of what is charged: `cost` in the configuration. */
export const costSchema = z.strictObject({
  notCharged: z
    .array(z.enum(allocatedTimeStates))
    .default(["unavailable"])
    .describe("States of allocated GPU time that no team pays for: their cost stays with the platform."),
  topWorkloads: z
    .number()
    .int()
    .min(0)
    .max(1000)
    .default(20)
    .describe("Workloads that have series of their own: those that cost most. The API has all."),
  co2GramsPerKwh: z
    .number()
    .min(0)
    .max(10_000)
    .optional()
    .describe("Grams of CO2 (equivalent) per kWh of your electricity; without it, no CO2 is published."),
  budgets: z
    .array(
      z.strictObject({
        team: z.string().min(1).describe("Team, as the rules in `teams` give it."),
        perMonth: amount.describe("What it may cost in a calendar month (UTC), by allocation."),
        currency: currency.default("USD"),
      }),
    )
    .default([])
    .describe("Budgets of teams; spent and forecast come from the history."),
});

const targetShape = z.strictObject({
  gpus: z
    .number()
    .min(0)
    .max(1024)
    .describe("Physical GPUs of one pod; a fraction below 1 is a share of one GPU; 0 for a pod without GPUs."),
  cpu: z.number().min(0).max(100_000).default(0).describe("CPU cores."),
  memoryBytes: z.number().min(0).max(1e15).default(0).describe("Memory in bytes."),
  migProfile: z.string().min(1).max(40).optional().describe("MIG profile, such as `1g.10gb`, instead of whole GPUs."),
  nodeSelector: z.record(z.string(), z.string()).default({}).describe("Labels that its node must have."),
  models: z.array(z.string().min(1)).default([]).describe("Canonical GPU models that it may use; empty: any."),
  popularity: z.number().positive().max(1e9).default(1).describe("How common it is, relative to the others."),
});

const topologyLevel = z.strictObject({
  name: z.string().min(1).max(63).describe("Name of the level in metrics and pages, such as `rack`."),
  nodeLabel: z
    .string()
    .min(1)
    .max(317)
    .describe("Node label whose values name the domains of this level. A node without it is in none."),
});

/** The settings of placement: `placement` in the configuration. */
export const placementSchema = z.strictObject({
  targetWorkload: z
    .array(targetShape)
    .default([])
    .describe("Pods for which placement is judged. Default: those that run, wait or ended in the last seven days."),
  topologyLevels: z
    .array(topologyLevel)
    .max(16)
    .default([])
    .describe(
      "Levels of the network's topology, the coarsest first, such as blocks and racks. Default: those of NVLink domains and of the clouds' own node labels. Levels that Kueue, KAI or Volcano declare are read in addition.",
    ),
});

/** The settings of history: `history` in the configuration. */
export const historySchema = z.strictObject({
  prometheus: askedServer
    .optional()
    .describe(
      "A server with Prometheus' HTTP API that scrapes Fairlead: it answers questions about the past instead of the ledger.",
    ),
});

export type TargetShape = z.infer<typeof targetShape>;
