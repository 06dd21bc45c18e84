import { z } from "zod";
import { activitySignals } from "../../model/activitySignals.ts";
import { healthCauses } from "../../model/gpuFaults.ts";
import { gpuStates } from "../../model/gpuStates.ts";
import { severities } from "../../model/problem.ts";
import { localQueue } from "./localQueueSchema.ts";
import { blocked, placement } from "./placementSchema.ts";
import { nodePool, poolPrice, priceGroup } from "./priceSchema.ts";
import { deadlock, dispatched, domain, eviction, finding, partialGang, pending, queue } from "./queueSchema.ts";
import { recommendation, withheldAdvice } from "./recommendationSchema.ts";
import { amount, gpus, instant, ownCost, type Read, ratio, states } from "./schemaParts.ts";
import { signals, work } from "./signalSchema.ts";
import { topologyLevel } from "./topologyRecords.ts";
import { workload } from "./workloadSchema.ts";

const pool = z
  .strictObject({
    pool: z.string(),
    domain: z.string().nullable().describe("Its quota domain; null where nothing is known of queues."),
    gpuModels: z.array(z.string()),
    nodes: z.number().int(),
    physicalGpus: gpus,
    states,
    allocated: gpus,
    estimated: gpus.describe("Allocated GPUs whose device, or the split of its activity, is estimated."),
    activity: ratio.describe("Mean activity of observed GPUs, allocated or not."),
    utilization: ratio,
    signals,
    price: poolPrice.nullable().describe("What its GPUs cost; null where nobody knows."),
    unpricedGpus: gpus.describe("GPUs without a known price."),
    placement: placement.nullable().describe("How well its free GPUs lie; null where objects were not read."),
    topology: z
      .array(topologyLevel)
      .optional()
      .describe("How often gangs fit into the domains of each level; absent where the pool is in no topology."),
  })
  .meta({ id: "Pool", description: "GPUs that are interchangeable." });

/** The schema of `cost` in the document: what all GPUs cost. */
const cost = z
  .strictObject({
    currency: z
      .string()
      .nullable()
      .describe("The currency in which most GPUs have a price; null where nothing has one."),
    perHour: amount.nullable().describe("Of all GPUs with a price in this currency: allocated and unallocated."),
    allocatedPerHour: amount.nullable(),
    unallocatedPerHour: amount.nullable().describe("Of what nobody holds."),
    unpricedGpus: gpus.describe("GPUs without a known price."),
    byCurrency: z
      .array(
        z.strictObject({ currency: z.string(), perHour: amount, allocatedPerHour: amount, unallocatedPerHour: amount }),
      )
      .describe("The same in each currency; amounts of different currencies are never added up."),
  })
  .meta({ id: "Cost", description: "What GPUs cost per hour at this moment." });

const team = z
  .strictObject({
    team: z.string(),
    allocated: gpus,
    activity: ratio.describe("Mean activity of the observed GPUs that the team holds."),
    activeGpus: gpus.describe("Allocated GPUs times their activity."),
    utilization: ratio,
    work: z
      .array(z.strictObject({ pool: z.string(), ...work }))
      .describe("How hard the GPUs that its pods hold alone work, by pool."),
    states,
    estimated: gpus,
    idleOptedOut: gpus,
    pending: gpus.describe("Physical GPUs that its pods wait for."),
    entitled: gpus.nullable().describe("Over all quota domains; null where that is not known."),
    deviation: z.number().nullable().describe("allocated - entitled, over all quota domains."),
    ...ownCost,
  })
  .meta({ id: "Team", description: "Who answers for workloads, what they hold, and whether they use it." });

const node = z
  .strictObject({
    name: z.string(),
    nodePool: z.string(),
    pools: z.array(z.string()),
    gpuModels: z.array(z.string()),
    instanceType: z.string().nullable(),
    capacityType: z.enum(["on-demand", "spot", "reserved"]).nullable(),
    provider: z.string().nullable(),
    region: z.string().nullable(),
    pricePerHour: z
      .number()
      .min(0)
      .nullable()
      .describe("Of all its GPUs together; null where nobody knows. `prices` has the basis."),
    currency: z.string().nullable(),
    physicalGpus: gpus.nullable(),
    allocatable: gpus.nullable(),
    allocated: gpus,
    ready: z.boolean().nullable(),
    schedulable: z.boolean().nullable(),
    idle: z
      .enum(["unallocated", "allocated"])
      .nullable()
      .describe(
        "Idle because nothing holds a GPU there, or because all that is allocated is idle; null: not idle, or not known because pods were not read.",
      ),
    idleSince: instant.nullable().describe("Since when it has been idle of this kind, as seen by Fairlead."),
    warmPool: z.boolean().describe("Kept ready on purpose: its idle time is counted apart."),
  })
  .meta({ id: "Node", description: "A node that has, had or should have GPUs." });

const holder = z.strictObject({
  namespace: z.string(),
  pod: z.string(),
  team: z.string(),
  share: gpus,
  source: z.enum(["dra", "dcgm", "reservation", "annotation", "request"]),
  estimated: z.boolean(),
});

const device = z
  .strictObject({
    node: z.string(),
    pool: z.string(),
    uuid: z.string().nullable(),
    gpuInstance: z.string().nullable(),
    idleNow: z.boolean().nullable(),
    stalledSince: instant
      .nullable()
      .describe("Since when every sample has looked busy and computed nothing; it is stalled after 15 minutes."),
    profile: z.string().nullable(),
    model: z.string(),
    weight: gpus.describe("The part of a physical GPU that the device is."),
    activity: ratio,
    signal: z.enum(activitySignals).nullable(),
    memoryUsedBytes: z.number().nullable(),
    powerWatts: z.number().nullable().describe("Of the whole GPU, also for a MIG instance."),
    lastXid: z.number().nullable().describe("The last XID error that its exporter reports, however long ago; 0: none."),
    state: z.enum(gpuStates).nullable().describe("The state of the largest part of the device."),
    cause: z
      .enum(healthCauses)
      .nullable()
      .describe("Why it is unavailable, or slower than it could be while it works; null: neither, or not known."),
    holders: z.array(holder),
  })
  .meta({ id: "Device", description: "A GPU or a MIG instance." });

const problem = z
  .strictObject({
    source: z.string(),
    code: z.string(),
    severity: z.enum(severities),
    subject: z.string().nullable(),
    message: z.string(),
    nextStep: z.string(),
  })
  .meta({ id: "Problem", description: "What went wrong or does not fit, and what to do about it." });

/** The records of each list of the document, by the name of the list. */
export const recordSchemas = {
  pools: pool,
  domains: domain,
  teams: team,
  queues: queue,
  localQueues: localQueue,
  nodes: node,
  nodePools: nodePool,
  devices: device,
  workloads: workload,
  pending,
  blocked,
  evictions: eviction,
  findings: finding,
  prices: priceGroup,
  recommendations: recommendation,
  withheld: withheldAdvice,
  problems: problem,
} as const;

/** One moment of a cluster, as `inspect --output json` prints it and `/api/v1/snapshot` serves it. */
export const documentSchema = z
  .strictObject({
    schemaVersion: z.literal(1),
    at: instant,
    cluster: z.string(),
    cost,
    pools: z.array(pool),
    domains: z.array(domain),
    teams: z.array(team),
    queues: z.array(queue),
    localQueues: z.array(localQueue),
    nodes: z.array(node),
    nodePools: z.array(nodePool),
    devices: z.array(device),
    workloads: z.array(workload),
    pending: z.array(pending),
    blocked: z.array(blocked),
    dispatched: z.array(dispatched),
    evictions: z.array(eviction),
    partialGangs: z.array(partialGang),
    deadlocks: z.array(deadlock),
    findings: z.array(finding),
    prices: z.array(priceGroup),
    recommendations: z.array(recommendation),
    withheld: z.array(withheldAdvice),
    coverage: z
      .strictObject({
        objects: z.boolean().describe("Objects of the Kubernetes API were read."),
        telemetry: z.boolean().describe("At least one telemetry page was read."),
        signal: z.enum(activitySignals).nullable().describe("The signal that activity is read from."),
        uncountedNodes: z.array(z.string()).describe("Nodes with GPUs whose number nothing says."),
      })
      .describe("Which parts of the picture were there."),
    dropped: z.record(z.string(), z.number().int()).describe("Telemetry samples that were not used, by reason."),
    problems: z.array(problem),
  })
  .meta({ id: "Document", description: "One moment of a cluster. Unknown is null, never 0." });

export type FairleadDocument = Read<z.infer<typeof documentSchema>>;
export type CostRecord = Read<z.infer<typeof cost>>;
export type PoolRecord = Read<z.infer<typeof pool>>;
export type TeamRecord = Read<z.infer<typeof team>>;
export type NodeRecord = Read<z.infer<typeof node>>;
export type NodePoolRecord = Read<z.infer<typeof nodePool>>;
export type DeviceRecord = Read<z.infer<typeof device>>;
export type WorkloadRecord = Read<z.infer<typeof workload>>;
export type DomainRecord = Read<z.infer<typeof domain>>;
export type QueueRecord = Read<z.infer<typeof queue>>;
export type DispatchedRecord = Read<z.infer<typeof dispatched>>;
export type EvictionRecord = Read<z.infer<typeof eviction>>;
export type FindingRecord = Read<z.infer<typeof finding>>;
export type PartialGangRecord = Read<z.infer<typeof partialGang>>;
export type PendingRecord = Read<z.infer<typeof pending>>;
export type BlockedRecord = Read<z.infer<typeof blocked>>;
export type PlacementRecord = Read<z.infer<typeof placement>>;
export type LocalQueueRecord = Read<z.infer<typeof localQueue>>;
export type RecommendationRecord = Read<z.infer<typeof recommendation>>;
export type WithheldRecord = Read<z.infer<typeof withheldAdvice>>;
export type PriceGroupRecord = Read<z.infer<typeof priceGroup>>;
