import { z } from "zod";
import { parseJson } from "../../kernel/parseJson.ts";
import { adviceActs } from "../../model/adviceAct.ts";
import { aftermathOutcomes } from "../../model/aftermath.ts";
import { adviceKinds, adviceStates, type EffectMeasures, undoneWays } from "../../model/recommendation.ts";
import type { StoredAdvice } from "../../model/storedAdvice.ts";
import { adviceId, needOf } from "../identity.ts";
import type { LivingOffer } from "./livingAdvice.ts";

const text = z.string();
const texts = z.array(text);
const amount = z.number();
const time = z.number().min(0);
const range = z.object({ worst: amount, best: amount });
const money = z.array(z.object({ currency: text, amount }));

const measures: z.ZodType<EffectMeasures> = z.object({
  blockedGpus: amount,
  pendingGpus: amount,
  freeGpus: amount,
  placeablePods: z.object({ "1": amount, "2": amount, "4": amount, "8": amount }),
  wholeFreeNodes: amount,
  expectedFragmentation: amount,
  deviations: z.array(z.object({ queue: text, domain: text, gpus: amount })),
  idleGpus: amount,
  unobservedGpus: amount,
  idleNodeHoursPerWeek: amount,
  costPerWeek: money,
});

const step = z.object({
  title: text,
  request: z.object({
    verb: z.enum(["POST", "PATCH", "PUT", "DELETE"]),
    path: text,
    contentType: z
      .enum([
        "application/json",
        "application/merge-patch+json",
        "application/json-patch+json",
        "application/strategic-merge-patch+json",
      ])
      .nullable(),
    body: z.json(),
  }),
  precondition: text,
  command: text,
  dryRun: text.nullable(),
  waitFor: text.nullable(),
});

/** Adapts records from before there were acts: a step that stopped work without asking is no longer a step. */
function withAct(value: unknown): unknown {
  if (typeof value !== "object" || value === null || "act" in value || !("kind" in value)) return value;
  const { kind } = value;
  const isAsked = kind === "release_idle" || kind === "right_size";
  const act = kind === "fix_source" ? "watch" : isAsked ? "ask" : "do";
  return { ...value, act, actReasons: [], questions: [], habit: null, ...(isAsked ? { steps: [] } : {}) };
}

const habit = z.object({
  spells: amount,
  returns: amount,
  medianReturnSeconds: amount.nullable(),
  returnProbability: amount,
  expectedIdleHours: amount,
  basis: z.enum(["own", "cluster", "published"]),
});

const draftOfNow = z.object({
  id: text,
  act: z.enum(adviceActs),
  actReasons: texts,
  questions: z.array(z.object({ to: text, about: text, question: text, facts: texts })),
  habit: habit.nullable(),
  stalledSince: time.optional(),
  kind: z.enum(adviceKinds),
  title: text,
  reason: text,
  evidence: z.array(z.object({ name: text, value: text })),
  steps: z.array(step),
  beneficiary: z.object({ kind: z.enum(["workload", "queue", "pool", "team", "node", "cluster"]), name: text }),
  targets: texts,
  fromTeam: text,
  forTeam: text,
  queue: text,
  pool: text,
  effect: z.object({
    before: measures,
    after: z.object({ mostAllocated: measures, leastAllocated: measures }),
    gainedGpus: range,
    gainedGpuHours: range,
    starts: texts,
    savingPerWeek: money,
  }),
  cost: z.object({ pods: amount, gangs: amount, lostGpuHours: amount, isUpperBound: z.boolean(), teams: texts }),
  worthGpuHours: amount,
  confidence: z.object({ level: z.enum(["high", "medium", "low"]), reasons: texts }),
  guards: texts,
  blockedAlternatives: texts,
});

const draft = z.preprocess(withAct, draftOfNow);

const sign = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("pods-left"), pods: z.array(z.object({ uid: text, node: text })) }),
  z.object({ kind: z.literal("nodes-left"), nodes: texts }),
  z.object({ kind: z.literal("node-pool-changed"), nodePool: text }),
  z.object({
    kind: z.literal("quota-changed"),
    queue: text,
    field: z.enum(["guaranteed", "limit"]),
    from: amount,
    to: amount,
  }),
  z.object({ kind: z.literal("finding-gone"), code: text, objectKind: text, name: text }),
  z.object({ kind: z.literal("request-changed"), workload: text, gpusPerPod: amount }),
  z.object({ kind: z.literal("priority-changed"), work: text, from: amount, ahead: text }),
  z.object({ kind: z.literal("exporter-restarted"), uid: text, node: text }),
]);

const measuredBy = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("work-started"), work: texts }),
  z.object({ kind: z.literal("work-released"), work: texts, gpus: amount }),
  z.object({ kind: z.literal("work-restarted"), pods: z.array(z.object({ uid: text, gpus: amount })) }),
  z.object({ kind: z.literal("nodes-removed"), nodes: z.array(z.object({ name: text, gpus: amount })) }),
  z.object({
    kind: z.literal("gpus-drained"),
    node: text,
    gpus: z.array(z.object({ uuid: text, gpus: amount })),
  }),
  z.object({ kind: z.literal("whole-nodes"), nodes: texts }),
  z.object({ kind: z.literal("observed"), nodes: texts }),
]);

const living = z.object({
  offer: z.object({
    draft,
    need: text,
    signs: z.array(sign),
    measuredBy,
    disrupted: z.array(z.object({ uid: text, work: text.default(""), gpus: amount, workSince: time.nullable() })),
  }),
  firstSeenAt: time,
  // A record without these fields was written by a version that identified advice by its targets.
  openedAt: time.optional(),
  openings: z.number().int().min(1).default(1),
  replaces: texts.default([]),
  replacedBy: text.nullable().default(null),
  parts: z
    .object({ done: z.number().int().min(0), all: z.number().int().min(1) })
    .nullable()
    .default(null),
  rests: texts.nullable().default(null),
  computedAt: time,
  validUntil: time,
  state: z.enum(adviceStates),
  closedAt: time.nullable(),
  closedBecause: text.nullable(),
  measured: z
    .object({
      gainedGpus: amount,
      lostGpuHours: amount,
      at: time,
      isFinal: z.boolean(),
      // This field is missing in records of earlier versions.
      undone: z
        .object({ how: z.enum(undoneWays), at: time, gpus: amount })
        .nullable()
        .default(null),
    })
    .nullable(),
  // This field is missing in records from before aftermaths were recorded.
  aftermath: z
    .object({ outcome: z.enum(aftermathOutcomes), at: time, regretGpuHours: amount })
    .nullable()
    .default(null),
  alerts: z.array(
    z.object({ alertname: text, fingerprint: text, status: z.enum(["firing", "resolved"]), startsAt: time }),
  ),
});

/**
 * Reads what the ledger has stored; `null` for a record that another version wrote in a different form. Advice from before ids
 * followed from needs keeps the id that links have, and gets the need that identifies its successors.
 */
export function livingOfferOf({ record }: StoredAdvice): LivingOffer | null {
  const parsed = living.safeParse(parseJson(record));
  if (!parsed.success) return null;
  const { offer, ...lifecycle } = parsed.data;
  const { draft, signs, measuredBy, need } = offer;
  const isOld = adviceId(need) !== draft.id;
  const known = isOld ? needOf({ ...draft, signs, measuredBy }) : need;
  return { ...lifecycle, openedAt: lifecycle.openedAt ?? lifecycle.firstSeenAt, offer: { ...offer, need: known } };
}
