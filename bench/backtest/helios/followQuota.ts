import type { AdviceStep, JsonValue } from "../../../exporter/model/recommendation.ts";
import { hashText, noise } from "../../../simulator/random.ts";
import type { Engine } from "../engine.ts";
import type { TeamSeries } from "./heliosTrace.ts";
import type { InferredJob } from "./inferJobs.ts";
import { type LendingOutcome, lendGpus } from "./lendGpus.ts";
import { queuesOf } from "./queuesOf.ts";

/** How people follow the advice about quotas. */
export interface QuotaFollowers {
  /** Part of the recommendations that are followed, 0..1, drawn for each of them at each look. */
  readonly obedience: number;
  readonly seed: number;
  readonly delayMinutes: number;
}

/** What came of it. */
export interface FollowedQuota extends LendingOutcome {
  readonly offered: number;
  readonly followed: number;
}

const startAt = 1_588_291_200;
const dayMinutes = 1440;
/** The minute of the day at which people look: ten o'clock. */
const lookMinute = 600;

/**
 * Begins with static quotas in one cohort (nobody may borrow), looks at the advice once a day, and applies the limits that it
 * raises. What is lent is taken back by Kueue's rule.
 */
export function followQuota(
  teams: readonly TeamSeries[],
  jobs: readonly InferredJob[],
  engine: Engine,
  followers: QuotaFollowers,
): FollowedQuota {
  const limits = teams.map(() => 0);
  const names = new Map(teams.map(({ team }, index) => [team, index] as const));
  const later = new Map<number, (readonly [number, number])[]>();
  let [offered, followed] = [0, 0];
  const outcome = lendGpus(teams, jobs, {
    limitOf: (team) => limits[team] ?? 0,
    isReclaimed: true,
    isSpread: true,
    knowsFuture: false,
    onMinute(minute, now) {
      for (const [team, limit] of later.get(minute) ?? []) limits[team] = limit;
      if (minute % dayMinutes !== lookMinute) return;
      const at = startAt + minute * 60;
      for (const { id, steps } of engine.advise(queuesOf({ teams, minute, now, limits, at, startAt }), at)) {
        offered += 1;
        if (noise(hashText(id), followers.seed * 1000 + minute / dayMinutes) >= followers.obedience) continue;
        followed += 1;
        const due = minute + followers.delayMinutes;
        later.set(due, [...(later.get(due) ?? []), ...steps.flatMap((step) => limitOfStep(step, names))]);
      }
    },
  });
  return { ...outcome, offered, followed };
}

/** The team (index) and the limit of borrowing that a step sets. A request that the replay does not know is an error. */
function limitOfStep(
  { request: { path, body } }: AdviceStep,
  names: ReadonlyMap<string, number>,
): readonly (readonly [number, number])[] {
  const queue = /\/clusterqueues\/([^/]+)$/.exec(path)?.[1] ?? "";
  const team = names.get(queue);
  const found = Array.isArray(body) ? body.flatMap(limitOfOperation) : [];
  const [limit] = found;
  if (team === undefined || limit === undefined) throw new Error(`the replay does not know how to send ${path}`);
  return [[team, limit]];
}

function limitOfOperation(operation: JsonValue): readonly number[] {
  if (operation === null || typeof operation !== "object" || !("path" in operation)) return [];
  const { op, path, value } = operation;
  return op !== "test" && typeof path === "string" && path.endsWith("/borrowingLimit") ? [Number(value)] : [];
}
