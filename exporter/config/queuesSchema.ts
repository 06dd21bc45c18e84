import { z } from "zod";

const seconds = (min: number, max: number) => z.number().min(min).max(max);
const amount = z.number().min(0).max(10_000_000);

const teamQuota = z.strictObject({
  team: z.string().min(1).describe("Name of the team, as the rules in `teams` give it."),
  guarantee: amount.default(0).describe("Physical GPUs that the team is guaranteed."),
  limit: amount.optional().describe("The most physical GPUs that it may hold. Default: no limit."),
  weight: z.number().min(0).max(1_000_000).default(1).describe("Its weight for GPUs that nobody is guaranteed."),
  pools: z
    .array(z.string().min(1))
    .min(1)
    .optional()
    .describe("Pools over which these amounts count; together they are one quota domain. Default: all pools."),
});

const configMap = z.strictObject({
  namespace: z.string().min(1).describe("Namespace of the ConfigMap."),
  name: z.string().min(1).describe("Name of the ConfigMap."),
});

const waitTarget = z.strictObject({
  queue: z.string().min(1).default("*").describe("Queue, in which `*` matches any text."),
  priorityClass: z.string().min(1).default("*").describe("Priority class, in which `*` matches any text."),
  seconds: seconds(1, 31_536_000).describe("Work that waits longer is late."),
});

/** The settings of queues, entitlement and waiting: `queues` in the configuration. */
export const queuesSchema = z.strictObject({
  teams: z
    .array(teamQuota)
    .default([])
    .describe(
      "Guarantee, limit and weight of teams where no scheduler has queues. Teams that are not here share equally.",
    ),
  kueue: z
    .strictObject({
      configMap: configMap
        .optional()
        .describe("ConfigMap with Kueue's Configuration (`controller_manager_config.yaml`), read for the lint only."),
    })
    .prefault({})
    .describe("Kueue."),
  volcano: z
    .strictObject({
      plugin: z
        .enum(["auto", "proportion", "capacity"])
        .default("auto")
        .describe(
          "The plugin that gives queues their share. `auto` reads `configMap` if it is set; where that says nothing, it takes `capacity` if a queue has a GPU amount in `deserved` above its guarantee or a parent other than `root`, else `proportion`, which is Volcano's default.",
        ),
      configMap: configMap
        .optional()
        .describe("ConfigMap with the scheduler's configuration (`volcano-scheduler.conf`)."),
      capacitySurplus: z
        .enum(["equal", "weight"])
        .default("equal")
        .describe(
          "How idle capacity is shared under the `capacity` plugin, which itself gives it to whoever comes first.",
        ),
    })
    .prefault({})
    .describe("Volcano."),
  kai: z
    .strictObject({
      nodePoolLabel: z
        .string()
        .min(1)
        .default("kai.scheduler/node-pool")
        .describe("Label of nodes and pod groups that names their shard."),
    })
    .prefault({})
    .describe("KAI Scheduler and Run:ai."),
  schedulers: z
    .array(z.string().min(1).max(253))
    .max(100)
    .default([])
    .describe(
      "Names of schedulers (`spec.schedulerName`) that place pods with GPUs here. Waiting pods of a scheduler that is neither here, nor Kubernetes' own, nor seen at work are no demand, because anyone can write any name.",
    ),
  halfLives: z
    .array(seconds(60, 31_536_000))
    .min(1)
    .max(5)
    .default([3600, 86_400, 604_800])
    .describe("Half-lives of the decayed deviation, seconds."),
  history: z
    .strictObject({
      enabled: z
        .boolean()
        .default(false)
        .describe("Take past use into account when surplus is shared, as time-based fairshare does."),
      halfLifeSeconds: seconds(60, 31_536_000).default(3600).describe("Half-life of past use."),
      windowSeconds: seconds(60, 31_536_000).default(7200).describe("Use before this is forgotten."),
      kValue: z.number().min(0).max(1000).default(1).describe("How strongly past use counts; KAI's `kValue`."),
    })
    .prefault({})
    .describe("History-aware entitlement, for schedulers that run time-based fairshare."),
  waitTargets: z
    .array(waitTarget)
    .default([])
    .describe("How long work may wait; the first that matches queue and priority class counts."),
});

export type QueueSettings = z.infer<typeof queuesSchema>;
