import type { AdviceLifecycle } from "../../exporter/accounts/ledger/queryAdvice.ts";
import { isoTime } from "../../exporter/kernel/isoTime.ts";
import { adviceActs } from "../../exporter/model/adviceAct.ts";
import type { AftermathOutcome } from "../../exporter/model/aftermath.ts";
import { type AdviceKind, adviceKinds, observingKinds } from "../../exporter/model/recommendation.ts";
import type { Action, TrackRecord } from "../document/waste.ts";
import { type Part, part, type ReviewAccounts, type ReviewQuestion } from "./source.ts";
import { sumCosts } from "./sumCosts.ts";
import { whyMeasured } from "./whyMeasured.ts";

/** The most open recommendations that a review has: a meeting can decide about no more. */
export const shownActions = 5;
const shownLastActions = 10;
const maxLives = 100_000;
const hoursPerDay = 24;
const hoursPerWeek = 168;

/** Kinds of advice on which the team that holds the GPUs acts itself; the platform acts on all others. */
const teamsOwn: readonly AdviceKind[] = ["reclaim", "release_idle", "right_size", "share_gpu"];

/** What was advised: what was still open at the end of the window, and what had been closed within it. */
export interface Actions {
  readonly actions: Action[];
  readonly lastActions: Action[];
  readonly lastActionsLeftOut: number;
  readonly trackRecords: TrackRecord[];
}

/** Asks what was advised in the window. */
export async function askActions(accounts: ReviewAccounts, question: ReviewQuestion): Promise<Part<Actions>> {
  const { days, cluster, team } = question;
  const asked = await accounts.queryAdvice({ from: days.from, to: days.to, limit: maxLives });
  if (!asked.ok) return asked;
  const lives = asked.answer.rows.filter(
    ({ fromTeam, forTeam }) => team === null || fromTeam === team || forTeam === team,
  );
  const isOpen = ({ closedAt }: AdviceLifecycle): boolean => closedAt === null || closedAt >= days.to;
  const closed = byNeed(lives.filter((lifecycle) => !isOpen(lifecycle))).map(({ lifecycle, records }) => ({
    ...actionOf(cluster, lifecycle),
    records,
  }));
  return part({
    actions: sortedActions(lives.filter(isOpen).map((lifecycle) => actionOf(cluster, lifecycle))).slice(
      0,
      shownActions,
    ),
    ...lastActionsOf(sortedActions(closed), 0),
    trackRecords: trackRecordsOf(lives),
  });
}

/**
 * Groups closed recommendations by need. Each that was taken or dismissed is a person's act, and counts by itself. Advice that
 * expired again and again counts once, whether its records have one id or, as in old ledgers, several.
 */
function byNeed(
  lives: readonly AdviceLifecycle[],
): readonly { readonly lifecycle: AdviceLifecycle; readonly records: number }[] {
  const needs = Map.groupBy(lives, (lifecycle) => {
    const { id, firstSeenAt, kind, state, fromTeam, forTeam, queue, pool } = lifecycle;
    return JSON.stringify(state === "expired" ? [kind, fromTeam, forTeam, queue, pool] : [id, firstSeenAt]);
  });
  return [...needs.values()].flatMap((own) => {
    const lifecycle = own.toSorted(
      (one, other) => (other.closedAt ?? 0) - (one.closedAt ?? 0) || (one.id < other.id ? -1 : 1),
    )[0];
    return lifecycle === undefined ? [] : [{ lifecycle, records: own.length }];
  });
}

/** Keeps the closed recommendations that a page shows, taken ones first; `leftOut` is how many were left out before. */
export function lastActionsOf(closed: readonly Action[], leftOut: number) {
  const shown = closed.toSorted((one, other) => Number(other.state === "taken") - Number(one.state === "taken"));
  return {
    lastActions: shown.slice(0, shownLastActions),
    lastActionsLeftOut: leftOut + Math.max(0, shown.length - shownLastActions),
  };
}

/**
 * Sorts recommendations, those with the most worth first: GPU-hours gained in a day minus GPU-hours lost. GPUs that are only
 * observed again are no gain.
 */
export function sortedActions(actions: readonly Action[]): Action[] {
  const worth = ({ kind, predictedGpus, lostGpuHours }: Action): number =>
    (observingKinds.has(kind) ? 0 : predictedGpus * hoursPerDay) - lostGpuHours;
  return actions.toSorted((one, other) => worth(other) - worth(one) || (one.id < other.id ? -1 : 1));
}

/** How recommendations turned out, by kind and act; only kinds and acts for which this is known of any. */
function trackRecordsOf(lives: readonly AdviceLifecycle[]): TrackRecord[] {
  return mergeTrackRecords(
    lives.flatMap(({ kind, detail }) => {
      const { act = null, aftermath = null } = detail ?? {};
      if (act === null || aftermath === null) return [];
      const is = (outcome: AftermathOutcome) => Number(aftermath.outcome === outcome);
      return [
        {
          kind,
          act,
          cameBack: is("came-back"),
          evictedAgain: is("evicted-again"),
          stayed: is("stayed"),
          ended: is("ended"),
          regretGpuHours: aftermath.regretGpuHours,
        },
      ];
    }),
  );
}

/** Adds up track records, such as those of several clusters, by kind and act. */
export function mergeTrackRecords(all: readonly TrackRecord[]): TrackRecord[] {
  return adviceKinds.flatMap((kind) =>
    adviceActs.flatMap((act) => {
      const own = all.filter((one) => one.kind === kind && one.act === act);
      const sum = (of: (one: TrackRecord) => number) => own.reduce((total, one) => total + of(one), 0);
      if (own.length === 0) return [];
      return [
        {
          kind,
          act,
          cameBack: sum((one) => one.cameBack),
          evictedAgain: sum((one) => one.evictedAgain),
          stayed: sum((one) => one.stayed),
          ended: sum((one) => one.ended),
          regretGpuHours: sum((one) => one.regretGpuHours),
        },
      ];
    }),
  );
}

function actionOf(cluster: string, lifecycle: AdviceLifecycle): Action {
  const { id, kind, title, state, firstSeenAt, closedAt, fromTeam, forTeam, pool, gainedGpusWorst, detail } = lifecycle;
  return {
    cluster,
    id,
    kind,
    title,
    state,
    firstSeen: isoTime(firstSeenAt),
    closed: closedAt === null ? null : isoTime(closedAt),
    closedBecause: detail?.closedBecause?.slice(0, 500) ?? null,
    records: 1,
    fromTeam,
    forTeam,
    pool,
    owner: fromTeam !== "" && teamsOwn.includes(kind) ? `team ${fromTeam}` : "platform",
    predictedGpus: gainedGpusWorst,
    predictedGpuHoursPerWeek: observingKinds.has(kind) ? 0 : gainedGpusWorst * hoursPerWeek,
    lostGpuHours: Math.max(0, lifecycle.lostGpuHours),
    savingPerWeek: sumCosts(
      (detail?.savingPerWeek ?? [])
        .filter(({ amount }) => amount > 0)
        .map(({ currency, amount }) => ({ [currency]: amount })),
    ),
    risk: riskOf(lifecycle),
    measuredGpus: lifecycle.measuredGpus,
    measuredLostGpuHours: lifecycle.measuredLostGpuHours,
    whyMeasured: state === "open" ? null : (whyMeasured(lifecycle)?.slice(0, 300) ?? null),
  };
}

function riskOf({ detail }: AdviceLifecycle): string {
  if (detail === null) return "not known: another version wrote it";
  const { act, confidence, disruptedPods, disruptedTeams, lostIsUpperBound } = detail;
  const whose = disruptedTeams.length === 0 ? "" : ` of ${disruptedTeams.slice(0, 3).join(", ")}`;
  const bound = lostIsUpperBound ? ", at most, no checkpoint is known" : "";
  const touched = disruptedPods === 0 ? "nothing restarts" : `${disruptedPods} pods${whose} restart${bound}`;
  const asked = act === "ask" ? "its owner is asked first; " : "";
  return `${asked}${touched}; confidence ${confidence.level}`.slice(0, 300);
}
