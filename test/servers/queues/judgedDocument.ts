import { z } from "zod";
import { adviseOnce } from "../../../exporter/advice/adviser.ts";
import { analyse, analysisSettings } from "../../../exporter/analysis/analyse.ts";
import { defaultConfig } from "../../../exporter/config/defaults.ts";
import { buildDocument } from "../../../exporter/publish/document/buildDocument.ts";
import type { Look } from "./lookAt.ts";

const amount = z.number().nullable();
const causes = z.record(z.string(), z.number());
const document = z.looseObject({
  domains: z.array(
    z.looseObject({
      pairs: z.array(z.looseObject({ starved: z.string(), borrower: z.string(), gpus: z.number() })),
    }),
  ),
  queues: z.array(
    z.looseObject({
      kind: z.string(),
      name: z.string(),
      guaranteed: z.number(),
      allocated: z.number(),
      pending: z.number(),
      entitled: amount,
      deviation: amount,
      nodeClasses: z
        .array(z.looseObject({ nodeClass: z.string(), allocated: z.number(), entitled: amount }))
        .optional(),
      shortfallByBorrowers: amount.optional(),
      shortfallByIdleGap: amount.optional(),
      shortfallByAbsentCapacity: causes.nullable().optional(),
      shortfallByIndivisible: amount.optional(),
    }),
  ),
  pending: z.array(
    z.looseObject({
      name: z.string(),
      gpus: amount,
      min: amount,
      cause: z.string(),
      reason: z.string(),
      never: z.string().nullable(),
    }),
  ),
  findings: z.array(z.looseObject({ code: z.string(), name: z.string(), reason: z.string(), change: z.string() })),
  recommendations: z.array(
    z.looseObject({
      kind: z.string(),
      title: z.string(),
      reason: z.string(),
      queue: z.string().nullable(),
      targets: z.array(z.string()),
    }),
  ),
  withheld: z.array(z.looseObject({ kind: z.string(), subject: z.string(), reason: z.string() })),
});

/** The parts of Fairlead's document that say who is short, and whom it blames. */
export type JudgedDocument = z.output<typeof document>;

/** Ten minutes, after which work that nothing keeps waiting is stuck. */
const laterSeconds = 600;

/** What `inspect --output json` would print of a look at a cluster, ten minutes later if nothing had changed. */
export function documentOf({ snapshot }: Look): JudgedDocument {
  const analysis = analyse({ ...snapshot, at: snapshot.at + laterSeconds }, analysisSettings(defaultConfig));
  const advice = adviseOnce(analysis, defaultConfig.advice, defaultConfig.interval);
  return document.parse(JSON.parse(JSON.stringify(buildDocument(analysis, [], advice))));
}

/** Whom it blames, as `starved < borrower: GPUs`. */
export const pairsOf = ({ domains }: JudgedDocument): readonly string[] =>
  domains
    .flatMap(({ pairs }) => pairs.map(({ starved, borrower, gpus }) => `${starved} < ${borrower}: ${gpus}`))
    .sort();

/** Work that it advises to take away, as `Job namespace/name`. */
export const reclaimedIn = ({ recommendations }: JudgedDocument): readonly string[] =>
  recommendations.flatMap(({ kind, targets }) => (kind === "reclaim" ? targets : []));

/** Objects whose settings it advises to change, so that work which waits now starts. */
export const settingsIn = ({ recommendations }: JudgedDocument): readonly string[] =>
  recommendations.flatMap(({ kind, targets }) => (kind === "fix_scheduler" ? targets : []));

/** An amount of a ClusterQueue over all of its records; `null` where one of them is not known. */
export function amountOf(
  { queues }: JudgedDocument,
  name: string,
  field:
    | "allocated"
    | "pending"
    | "entitled"
    | "deviation"
    | "shortfallByBorrowers"
    | "shortfallByIdleGap"
    | "shortfallByIndivisible",
): number | null {
  const own = queues.filter((queue) => queue.kind === "ClusterQueue" && queue.name === name);
  if (own.length === 0) throw new Error(`there is no ClusterQueue ${name} in the document`);
  return own.reduce<number | null>((sum, queue) => {
    const value = queue[field] ?? null;
    return sum === null || value === null ? null : sum + value;
  }, 0);
}

/** What a ClusterQueue lacks because guarantees have no nodes. */
export const absentFor = ({ queues }: JudgedDocument, name: string): number | null =>
  queues
    .filter((queue) => queue.kind === "ClusterQueue" && queue.name === name)
    .reduce<number | null>((sum, { shortfallByAbsentCapacity: causes }) => {
      if (sum === null || causes === undefined || causes === null) return null;
      return Object.values(causes).reduce((all, gpus) => all + gpus, sum);
    }, 0);

/** What it says about a queue in words: findings, advice, and why it withholds some. */
export const saidOf = ({ findings, recommendations, withheld }: JudgedDocument, queue: string): string =>
  [
    ...findings.filter(({ name }) => name === queue).map(({ reason, change }) => `${reason} ${change}`),
    ...recommendations.filter((one) => one.queue === queue).map(({ title, reason }) => `${title} ${reason}`),
    ...withheld.filter(({ subject }) => subject === queue).map(({ reason }) => reason),
  ].join("\n");
