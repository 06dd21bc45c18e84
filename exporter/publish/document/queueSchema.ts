import { z } from "zod";
import { schedulerNumbers } from "../../catalogue/labels.ts";
import { queueSchedulers } from "../../model/queues/eviction.ts";
import { absentOwners } from "../../model/shortfall.ts";
import { waitCauses } from "../../model/waitCauses.ts";
import { linePosition } from "./localQueueSchema.ts";
import { gpus, instant, ratio, seconds } from "./schemaParts.ts";

const scheduler = z.enum(queueSchedulers).describe("Queue system; none: teams or namespaces act as queues.");
const kind = z.enum(["Scheduler", "Cohort", "ClusterQueue", "Queue", "Team", "Namespace", "Unqueued"]);
const unknownEntitlement = "Null where entitlement is not known.";

const gpusByOwner = z
  .partialRecord(z.enum(absentOwners), gpus)
  .describe("By whose it is to fix; an owner that is not there has none of it.");

export const domain = z
  .strictObject({
    domain: z.string().describe("Its pools, sorted and joined by +."),
    pools: z.array(z.string()),
    capacity: gpus.describe(
      "Physical GPUs that can be given out: on ready and schedulable nodes, and allocated on others.",
    ),
    allocatedOnUnschedulable: gpus.describe("Allocated on nodes that are not ready or not schedulable."),
    pastQueues: gpus.describe("Allocated to pods of no queue: nobody's guarantee reaches it."),
    nodeClasses: z
      .array(z.strictObject({ nodeClass: z.string(), capacity: gpus }))
      .describe("Nodes that nothing distinguishes for its queues; GPUs of ready and schedulable ones."),
    unknownBecause: z.string().nullable().describe("Why entitlement is not known here; null: it is."),
    allocated: gpus,
    pending: gpus.describe("Eligible demand that waits."),
    entitled: gpus.nullable().describe(unknownEntitlement),
    excess: gpus.nullable(),
    shortfall: gpus.nullable(),
    idleGap: z.number().nullable().describe("GPUs that are free although a queue is entitled to them."),
    absentCapacity: gpusByOwner
      .nullable()
      .describe("Guaranteed, waited for, and on no node that a queue can have, by why."),
    misallocatedRatio: ratio.describe("What pairs would move / entitled."),
    jainIndex: ratio,
    pairs: z
      .array(z.strictObject({ starved: z.string(), borrower: z.string(), gpus }))
      .describe("What a scheduler would move so that whole waiting gangs start, largest first."),
    heldBack: z
      .array(z.strictObject({ starved: z.string(), borrower: z.string(), gpus, because: z.string() }))
      .describe("What would be moved if a setting did not hold it back, with the setting."),
  })
  .meta({ id: "Domain", description: "The pools over which one quota counts." });

const schedulerValue = z
  .union([z.number(), z.literal("Infinity")])
  .nullable()
  .describe("Infinity: weight 0 while borrowing. Null: not known.");

const waiting = z.strictObject({
  gangs: z.number().int(),
  gpus: z.partialRecord(z.enum(waitCauses), gpus).describe("By cause; a cause that is not there is 0."),
  oldestSeconds: seconds.nullable(),
  late: z.number().int().describe("Gangs that wait longer than their target."),
});

export const queue = z
  .strictObject({
    scheduler,
    kind,
    name: z.string(),
    parent: z.string().nullable(),
    domain: z.string(),
    team: z.string().nullable().describe("Null where several teams share it, or none is known."),
    isLeaf: z.boolean().describe("Only a leaf holds and waits itself; amounts of others are those of their subtree."),
    guaranteed: gpus,
    limit: gpus.nullable().describe("Null: no limit."),
    lendingLimit: gpus.nullable().describe("Null: all of its quota may be lent."),
    weight: z.number().min(0),
    allocated: gpus,
    allocatedOnUnschedulable: gpus,
    reserved: gpus.nullable().describe("Quota reserved by admitted work; null where the scheduler has no such step."),
    pending: gpus.describe("Eligible demand that waits."),
    demand: gpus.nullable().describe(`allocated + pending. ${unknownEntitlement}`),
    entitled: gpus.nullable().describe(unknownEntitlement),
    deviation: z.number().nullable().describe("allocated - entitled."),
    nodeClasses: z
      .array(z.strictObject({ nodeClass: z.string(), allocated: gpus, entitled: gpus }))
      .nullable()
      .describe(
        `Of a leaf: the node classes in which it holds or may hold anything, on ready and schedulable nodes. ${unknownEntitlement}`,
      ),
    shortSince: instant
      .nullable()
      .describe(
        "Since when a leaf has been short of its entitlement without a break, as far as this process remembers.",
      ),
    shortfall: gpus
      .nullable()
      .describe("What it misses of what it could have if every guarantee had its nodes: the sum of the four causes."),
    shortfallByBorrowers: gpus.nullable().describe("Others hold it above their entitlement."),
    shortfallByIdleGap: gpus.nullable().describe("It is free where the queue may use it."),
    shortfallByAbsentCapacity: gpusByOwner
      .nullable()
      .describe("Guaranteed to it and on no node, by whose it is to fix."),
    shortfallByIndivisible: gpus
      .nullable()
      .describe("The rest: no whole gang fits into it, or a setting keeps it where it is."),
    actionableShortfall: gpus
      .nullable()
      .describe(
        "GPUs of the whole waiting gangs that fit into what is free for it and what its scheduler would take back.",
      ),
    heldBackBy: z
      .string()
      .nullable()
      .describe(
        "Of a leaf: the setting for which its scheduler takes back nothing of what others borrow; null: none does.",
      ),
    teams: z.array(z.strictObject({ team: z.string(), allocated: gpus, pending: gpus })).describe("Of a leaf."),
    waiting: waiting.describe("What waits in a leaf, all priority classes together, demand or not."),
    schedulerView: z
      .strictObject({ name: z.enum(schedulerNumbers), value: schedulerValue })
      .nullable()
      .describe("The scheduler's own number: as it reports it, else computed."),
    schedulerViews: z
      .array(
        z.strictObject({
          number: z.enum(schedulerNumbers),
          shard: z.string().describe("Node-pool shard; empty: the whole cluster."),
          computed: schedulerValue,
          reported: schedulerValue,
        }),
      )
      .describe("All of the scheduler's own numbers for this queue."),
  })
  .meta({ id: "Queue", description: "A queue, cohort or root in one quota domain, and what it is entitled to." });

export const pending = z
  .strictObject({
    namespace: z.string(),
    kind: z.string(),
    name: z.string(),
    team: z.string(),
    queue: z.string().nullable(),
    localQueue: z.string().nullable().describe("LocalQueue of Kueue."),
    ...linePosition,
    priorityClass: z.string(),
    domains: z
      .array(z.string())
      .describe("Quota domains in which it waits; empty where no pool can serve it, or unknown."),
    gpus: gpus
      .nullable()
      .describe("What it waits for; where fewer pods will do (Kueue's partial admission), what these few ask for."),
    pods: z.number().int(),
    mostGpus: gpus
      .nullable()
      .describe("All that it asks for, where fewer pods will do; null: as much as `gpus`, or unknown."),
    mostPods: z
      .number()
      .int()
      .nullable()
      .describe("All pods that it asks for, where fewer will do; null: as many as `pods`."),
    growth: z
      .strictObject({ from: z.number().int(), to: z.number().int() })
      .nullable()
      .describe("It is the growth of an elastic job that runs: pods with GPUs that the job has, and that it wants."),
    bound: z.number().int().nullable().describe("Members of the gang that are bound already."),
    min: z.number().int().nullable().describe("Fewest members that can run."),
    since: instant.nullable(),
    ageSeconds: seconds.nullable(),
    reservedAt: instant.nullable().describe("When its quota was reserved."),
    cause: z.enum(waitCauses),
    blockingLevel: z
      .string()
      .nullable()
      .describe(
        "With the cause topology: the level that blocks, because it fits into no single domain of it; null: another cause, or not known.",
      ),
    late: z.boolean().nullable().describe("Longer than its wait target; null without one."),
    reason: z
      .string()
      .describe(
        "What holds it back: the LimitRange that refuses it, its admission checks, the scheduler's own words; empty where nothing says.",
      ),
    admissionChecks: z
      .array(
        z.strictObject({
          name: z.string(),
          state: z.enum(["Pending", "Retry", "Rejected"]),
          message: z.string(),
          controller: z
            .string()
            .nullable()
            .describe("controllerName of the AdmissionCheck; null where it is not known."),
        }),
      )
      .describe("Admission checks that hold it back now."),
    awaitsNodes: z.boolean().describe("It has quota, and nodes that a ProvisioningRequest asks for are still to come."),
    isCopy: z
      .boolean()
      .describe(
        "MultiKueue made it for work that waits in another cluster, where its wait is counted: it is demand here.",
      ),
    never: z
      .enum([
        "paused",
        "above-limit",
        "no-node",
        "no-queue",
        "limit-range",
        "elsewhere",
        "no-scheduler",
        "unschedulable",
      ])
      .nullable()
      .describe("Why it can never run as things are, so that it is no demand; null: it is demand."),
  })
  .meta({ id: "Pending", description: "A gang, or a workload's pods, that wait for nodes." });

export const dispatched = z
  .strictObject({
    namespace: z.string(),
    kind: z.string(),
    name: z.string(),
    team: z.string(),
    queue: z.string().nullable(),
    localQueue: z.string(),
    priorityClass: z.string(),
    cluster: z.string().nullable().describe("The cluster that has taken it; null where its object names none."),
    since: instant.nullable(),
    pods: z.number().int(),
    gpus: gpus.nullable().describe("As this cluster's nodes count GPUs; null where they do not say."),
  })
  .meta({
    id: "Dispatched",
    description:
      "Work that MultiKueue has sent to another cluster: it neither holds nor waits here, and is counted there.",
  });

export const finding = z
  .strictObject({
    code: z.string(),
    scheduler,
    kind: z.string(),
    name: z.string(),
    reason: z.string().describe("What was found and why it matters."),
    change: z.string().describe("The change that fixes it."),
  })
  .meta({ id: "Finding", description: "A configuration that makes fairness other than its author meant." });

export const eviction = z
  .strictObject({
    at: instant.nullable(),
    scheduler,
    kind: z.string(),
    namespace: z.string(),
    name: z.string(),
    team: z.string(),
    queue: z.string().nullable(),
    priorityClass: z.string(),
    reason: z.string(),
    isPreemption: z.boolean().describe("Whether someone else's work was the reason."),
    preemptor: z
      .strictObject({ name: z.string(), team: z.string().nullable(), queue: z.string().nullable() })
      .nullable()
      .describe("Work that took the place; null where that is not known."),
    gpus: gpus.nullable().describe("Physical GPUs that were allocated to it."),
    lostGpuSeconds: seconds.nullable(),
    isUpperBound: z.boolean().describe("No checkpoint is known, so that all since the start counts as lost."),
  })
  .meta({ id: "Eviction", description: "Work that lost what it had been given, and what that cost." });

export const partialGang = z
  .strictObject({
    id: z.string(),
    owner: z.string().describe("The object that its members belong to, by kind, namespace and name."),
    namespace: z.string(),
    team: z.string(),
    queue: z.string().nullable(),
    pool: z.string(),
    bound: z.number().int(),
    min: z.number().int(),
    allocatedGpus: gpus,
    missingGpus: gpus.nullable(),
    since: instant.nullable(),
    hasLostMember: z.boolean().describe("It ran before, and has lost a member since; else it waits to begin."),
    gpuHours: z.number().describe("GPU-hours that it has held since then."),
  })
  .meta({ id: "PartialGang", description: "A gang that has some members with GPUs while others cannot start." });

export const deadlock = z
  .strictObject({
    pool: z.string(),
    gangs: z.array(z.string()),
    allocatedGpus: gpus,
    missingGpus: gpus,
    freeGpus: gpus,
  })
  .meta({ id: "Deadlock", description: "Partial gangs of a pool that keep each other from starting." });
