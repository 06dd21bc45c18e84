import type { Analysis } from "../analysis/analysis.ts";
import { labelValue } from "../kernel/labelValue.ts";
import { oncePer } from "../kernel/once.ts";
import type { IdleReason } from "../model/idleReasons.ts";
import { tokenKinds } from "../model/serving.ts";
import type { MomentClock } from "./accounting.ts";
import type { Total } from "./counters.ts";
import type { Remembered, RememberedChange } from "./ledger/ledger.ts";
import type { AccruedTime } from "./posting.ts";
import { createCounterTable, other, shared } from "./seriesTable.ts";
import type { ServedTime } from "./servedTime.ts";
import { createServedWork, type ServedWork } from "./servedWork.ts";

/** The labels that the work of servers is counted by. */
export interface ServedLabels {
  readonly pool: string;
  readonly team: string;
}

export interface IdleReasonLabels extends ServedLabels {
  readonly reason: IdleReason;
}

export interface TokenLabels extends ServedLabels {
  readonly kind: (typeof tokenKinds)[number];
}

/** Running totals of idle time by reason, and of the work of servers, since the process started. */
export interface ServingCounters {
  /** Idle GPU-seconds by reason. All reasons of a pool and team add up to its GPU-seconds in state `idle`. */
  readonly idleSeconds: readonly Total<IdleReasonLabels>[];
  readonly requests: readonly Total<ServedLabels>[];
  readonly tokens: readonly Total<TokenLabels>[];
}

export interface ServingAccount {
  /** Publishes every label set that the next step can add to. */
  announce(analysis: Analysis): void;
  /** Adds the step between two moments, or nothing if it is a gap, and returns what workloads served in it. */
  add(before: Analysis, after: Analysis, step: Pick<AccruedTime, "interval" | "postings">): readonly ServedTime[];
  counters(): ServingCounters;
  /** What workloads have served; the workload with the most generated tokens comes first. */
  work(): readonly ServedWork[];
  /** The changes that must be remembered now; the list is empty unless a minute has passed since the last changes. */
  changes(now: MomentClock): readonly RememberedChange[];
}

/** The parts of `limits.series` that these series may take. */
const budgets = { idle: 0.02, requests: 0.005, tokens: 0.01 } as const;

/** Opens the account; `teamLabel` gives the label of a team within the budget of teams. */
export function createServingAccount(
  series: number,
  teamLabel: (team: string | null) => string,
  remembered: readonly Remembered[] | null = null,
): ServingAccount {
  const fold = <Labels extends ServedLabels>(labels: Labels): Labels => ({ ...labels, team: shared(labels.team) });
  const lastFold = <Labels extends ServedLabels>(labels: Labels): Labels => ({ ...fold(labels), pool: other });
  const idle = createCounterTable<IdleReasonLabels>(series * budgets.idle, fold, lastFold);
  const requests = createCounterTable<ServedLabels>(series * budgets.requests, fold, lastFold);
  const tokens = createCounterTable<TokenLabels>(series * budgets.tokens, fold, lastFold);
  const work = createServedWork(remembered);

  const labelsOf = (pool: string, team: string | null): ServedLabels => ({
    pool: labelValue(pool),
    team: teamLabel(team),
  });

  return {
    announce(analysis) {
      for (const table of [idle, requests, tokens]) table.begin(analysis.snapshot.at);
      for (const { pool, team, reason } of idleGroups(analysis)) idle.cell({ ...labelsOf(pool, team), reason });
      for (const { pool, team } of servedGroups(analysis)) {
        const labels = labelsOf(pool, team);
        requests.cell(labels);
        for (const kind of tokenKinds) tokens.cell({ ...labels, kind });
      }
    },
    add(before, after, step) {
      if (step.interval.gap === null) {
        for (const { pool, team, reason, gpus } of idleGroups(before))
          idle.cell({ ...labelsOf(pool, team), reason }).value += gpus * step.interval.seconds;
        for (const served of servedGroups(after)) {
          const labels = labelsOf(served.pool, served.team);
          requests.cell(labels).value += served.requests;
          for (const kind of tokenKinds) tokens.cell({ ...labels, kind }).value += served[kind];
        }
      }
      return work.add(after.snapshot, step);
    },
    counters: () => ({
      idleSeconds: idle.cells,
      requests: requests.cells,
      tokens: tokens.cells,
    }),
    work: work.all,
    changes: work.changes,
  };
}

interface IdleGroup {
  readonly pool: string;
  readonly team: string | null;
  readonly reason: IdleReason;
  gpus: number;
}

/** Idle GPUs of a moment by pool, team and reason. They are announced in one cycle and added in the next. */
export const idleGroups = oncePer(({ accountingEntries, snapshot }: Analysis): readonly Readonly<IdleGroup>[] => {
  const groups: IdleGroup[] = [];
  const byTeam = new Map<string | null, IdleGroup[]>();
  for (const { pod, pool, gpus, idleReason: reason = "no-activity" } of accountingEntries.inState("idle")) {
    const team = pod === null ? null : (snapshot.pods[pod]?.team ?? null);
    const ofTeam = byTeam.get(team) ?? [];
    byTeam.set(team, ofTeam);
    const known = ofTeam.find((group) => group.pool === pool && group.reason === reason);
    if (known !== undefined) {
      known.gpus += gpus;
      continue;
    }
    const group: IdleGroup = { pool, team, reason, gpus };
    ofTeam.push(group);
    groups.push(group);
  }
  return groups;
});

interface ServedGroup {
  readonly pool: string;
  readonly team: string;
  requests: number;
  prompt: number;
  generated: number;
}

/**
 * What servers did since the moment before, by pool and team. A server on GPUs of several pools counts for the first of them.
 */
const servedGroups = oncePer(({ snapshot }: Analysis): readonly Readonly<ServedGroup>[] => {
  const { serving, pods, devices } = snapshot;
  if (serving === undefined || serving.size === 0) return [];
  const pools = new Map<number, string>();
  for (const { pool, holders } of devices)
    for (const { pod } of holders) if (serving.has(pod) && !pools.has(pod)) pools.set(pod, pool);
  const groups = new Map<string, ServedGroup>();
  for (const [index, { page, served }] of serving) {
    const team = pods[index]?.team;
    const pool = pools.get(index);
    if (page !== index || team === undefined || pool === undefined) continue;
    const key = JSON.stringify([pool, team]);
    const group = groups.get(key) ?? { pool, team, requests: 0, prompt: 0, generated: 0 };
    groups.set(key, group);
    group.requests += served?.requests ?? 0;
    group.prompt += served?.promptTokens ?? 0;
    group.generated += served?.generatedTokens ?? 0;
  }
  return [...groups.values()];
});
