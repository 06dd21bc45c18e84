import { z } from "zod";
import { adviceActs } from "../../model/adviceAct.ts";
import { aftermathOutcomes } from "../../model/aftermath.ts";
import { adviceKinds, adviceStates, undoneWays, withheldReasons } from "../../model/recommendation.ts";
import { gpus, instant } from "./schemaParts.ts";

const money = z.array(z.strictObject({ currency: z.string(), amount: z.number() }));
const hours = z.number().min(0);
const range = z.strictObject({ worst: z.number(), best: z.number() });

const measures = z
  .strictObject({
    blockedGpus: gpus.describe("GPUs of waiting work that is blocked although enough is free."),
    pendingGpus: gpus.describe("GPUs of eligible work that waits."),
    freeGpus: gpus.describe("Fully free whole GPUs of the pools that the plan touches."),
    placeablePods: z
      .record(z.enum(["1", "2", "4", "8"]), z.number().int())
      .describe("How many pods of each size fit there."),
    wholeFreeNodes: z.number().int(),
    expectedFragmentation: gpus,
    deviations: z
      .array(z.strictObject({ queue: z.string(), domain: z.string(), gpus: z.number() }))
      .describe(
        "allocated - entitled of the queues whose deviation the plan changes: at most twenty, the most changed first.",
      ),
    idleGpus: gpus,
    unobservedGpus: gpus,
    idleNodeHoursPerWeek: hours,
    costPerWeek: money.describe("Of all nodes of the pools that the plan touches."),
  })
  .meta({ id: "EffectMeasures", description: "One side of what a plan changes, by the same analyses." });

const step = z.strictObject({
  title: z.string(),
  request: z.strictObject({
    verb: z.enum(["POST", "PATCH", "PUT", "DELETE"]),
    path: z.string(),
    contentType: z.string().nullable(),
    body: z.json(),
  }),
  precondition: z.string(),
  command: z.string().describe("The request as a command for a POSIX shell."),
  dryRun: z.string().nullable().describe("The same as a dry run on the server; null where the API has none."),
  waitFor: z.string().nullable().describe("What must have happened before the next step."),
});

/** One recommendation. */
export const recommendation = z
  .strictObject({
    id: z.string().describe("By kind and need: it stays while targets, numbers and steps change."),
    kind: z.enum(adviceKinds),
    act: z
      .enum(adviceActs)
      .describe("do: every guard allows it. ask: only the owner can say. watch: a signal is missing or in doubt."),
    actReasons: z.array(z.string()).describe("Why it is this act."),
    state: z.enum(adviceStates),
    title: z.string(),
    reason: z.string(),
    evidence: z.array(z.strictObject({ name: z.string(), value: z.string() })),
    beneficiary: z.strictObject({
      kind: z.enum(["workload", "queue", "pool", "team", "node", "cluster"]),
      name: z.string(),
    }),
    targets: z.array(z.string()).describe("What it acts on."),
    fromTeam: z.string().nullable(),
    forTeam: z.string().nullable(),
    queue: z.string().nullable(),
    pool: z.string().nullable(),
    steps: z.array(step).describe("Empty of an ask."),
    questions: z
      .array(
        z.strictObject({
          to: z.string().describe("Who can answer."),
          about: z.string(),
          question: z.string(),
          facts: z.array(z.string()),
        }),
      )
      .describe("What its owners are to be asked; only of an ask."),
    habit: z
      .strictObject({
        spells: z.number().int().describe("Its own idle spells that lasted as long as this one, or longer."),
        returns: z.number().int().describe("How many of them ended in work."),
        medianReturnSeconds: z.number().min(0).nullable().describe("After how long, counted from this length."),
        returnProbability: z.number().min(0).max(1).describe("That it works again within the horizon."),
        expectedIdleHours: hours.describe("For how much longer it is expected to stay idle within the horizon."),
        basis: z.enum(["own", "cluster", "published"]),
      })
      .nullable()
      .describe("Of idle work that has worked before; null of everything else."),
    stalledSince: z
      .string()
      .nullable()
      .describe("Since when work looks busy and computes nothing, where the advice is about that; else null."),
    effect: z
      .strictObject({
        before: measures,
        after: z.strictObject({ mostAllocated: measures, leastAllocated: measures }),
        gainedGpus: range.describe("Under the worse and the better of two placement rules."),
        gainedGpuHours: range.describe("Within the horizon, 24 h by default."),
        starts: z.array(z.string()).describe("Waiting work that starts, `namespace/name`; at most ten."),
        savingPerWeek: money,
      })
      .describe("What the plan would change, simulated on a copy of this moment."),
    cost: z.strictObject({
      pods: z.number().int(),
      gangs: z.number().int(),
      lostGpuHours: hours.describe("Work that is done again, and the restart."),
      isUpperBound: z.boolean().describe("No checkpoint is known for part of the work."),
      teams: z.array(z.string()),
    }),
    worthGpuHours: z
      .number()
      .describe(
        "GPU-hours gained less those lost (in an ask: with the probability that the work is wanted again), under the worse rule: the order of the list.",
      ),
    confidence: z.strictObject({ level: z.enum(["high", "medium", "low"]), reasons: z.array(z.string()) }),
    guards: z.array(z.string()).describe("Guards that were asked and let it pass."),
    blockedAlternatives: z.array(z.string()).describe("What would have been better, and why it may not be."),
    firstSeen: instant,
    opened: instant.describe(
      "What expired and is needed again within a day is opened again, and stays the same record.",
    ),
    openings: z.number().int().describe("How often it was opened."),
    replaces: z.array(z.string()).describe("Ids of advice whose place it took."),
    replacedBy: z.string().nullable().describe("Id of the advice that took its place."),
    parts: z
      .strictObject({ done: z.number().int(), all: z.number().int() })
      .nullable()
      .describe("Parts of its plan that were seen to be done; null while none was."),
    computed: instant,
    validUntil: instant,
    closed: instant.nullable(),
    closedBecause: z.string().nullable(),
    measured: z
      .strictObject({
        gainedGpus: z.number(),
        lostGpuHours: z.number(),
        at: instant,
        isFinal: z.boolean().describe("The gain does not change any more."),
        undone: z
          .strictObject({ how: z.enum(undoneWays), at: instant, gpus: z.number() })
          .nullable()
          .describe("How the plan came to nothing, within 24 h (`advice.horizonHours`); null where it did not."),
      })
      .nullable()
      .describe("What was seen after it was taken; null for all others."),
    aftermath: z
      .strictObject({ outcome: z.enum(aftermathOutcomes), at: instant, regretGpuHours: hours })
      .nullable()
      .describe("What became of the work that it named, taken or not; null while that is not known."),
    alerts: z.array(
      z.strictObject({
        alertname: z.string(),
        fingerprint: z.string(),
        status: z.enum(["firing", "resolved"]),
        since: instant,
      }),
    ),
  })
  .meta({ id: "Recommendation", description: "What to do, why, what it would change and what it costs." });

/** Something that was looked at and is not recommended. */
export const withheldAdvice = z
  .strictObject({
    kind: z.enum(adviceKinds),
    subject: z.string(),
    why: z.enum(withheldReasons),
    reason: z.string(),
    id: z.string().nullable().describe("Of the recommendation that it would be; null where nothing was planned."),
  })
  .meta({ id: "Withheld", description: "What was looked at and is not recommended, and why." });
