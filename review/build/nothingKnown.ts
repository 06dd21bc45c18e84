import { isoDay } from "../../exporter/kernel/isoTime.ts";
import { weekOf } from "../window.ts";
import type { ReviewFailure, ReviewQuestion } from "./source.ts";

const secondsPerDay = 86_400;
/**
 * For how many days back the first day with data is looked for. A server is asked once for each day, and older windows are not
 * worth so many questions; two months are within this.
 */
const mostDays = 63;

/**
 * Why there is no review of a window without data: nothing was recorded in it, or Fairlead is younger than the window
 * (`isNotYet`). `knownBefore` is whether windows before it have data.
 */
export async function nothingKnown(question: ReviewQuestion, knownBefore: boolean): Promise<ReviewFailure> {
  const { days, now, history } = question;
  const isYoung = !knownBefore && now - days.from <= mostDays * secondsPerDay;
  const since = isYoung ? await firstDay(question) : null;
  if (since === null) return noData(question);
  const whose = ofTeam(question);
  if (since === "nothing")
    return {
      ok: false,
      isNotYet: true,
      error: `There is no review of ${days.label} yet: so far nothing${whose} is recorded in ${history.name}`,
      nextStep: `${whenWritten(days.kind, now)} Data is recorded from the second cycle on.`,
    };
  return {
    ok: false,
    isNotYet: true,
    error: `There is no review of ${days.label} yet: data${whose} is recorded since ${isoDay(since)} in ${history.name}`,
    nextStep: `${whenWritten(days.kind, since)} The week that goes on can be asked for at any time: --week current, or /review.`,
  };
}

/** Says when the first review can be written if data is recorded since `since`, seconds since the epoch. */
function whenWritten(kind: ReviewQuestion["days"]["kind"], since: number): string {
  if (kind === "span") return `Ask for days from ${isoDay(since)} on.`;
  if (kind === "month") return `The first review will be of ${isoDay(since).slice(0, 7)}, when that month is over.`;
  const { label, to } = weekOf(since);
  return `The first review will be of ${label}, and can be written from Monday ${isoDay(to)} (UTC) on.`;
}

/**
 * When the first day after the window that has data begins, seconds since the epoch; `nothing` where there is no data at all;
 * `null` where the day is not known, or is in the window itself.
 */
async function firstDay({ history, days, team, now }: ReviewQuestion): Promise<number | "nothing" | null> {
  const where = team === null ? {} : { team: [team] };
  const to = Math.ceil(now / secondsPerDay) * secondsPerDay;
  const asked = await history.totals({ from: days.from, to, by: ["day"], where });
  // If a server does not answer, the reason may be a wrong setting, for which waiting does not help.
  if (!asked.ok) return null;
  const first = asked.answer.rows.map(({ values: [day = ""] }) => Date.parse(day) / 1000).sort((a, b) => a - b)[0];
  if (first === undefined) return asked.answer.coveredSeconds > 0 ? null : "nothing";
  return first >= days.to ? first : null;
}

function noData(question: ReviewQuestion): ReviewFailure {
  const { days, history } = question;
  return {
    ok: false,
    error: `nothing${ofTeam(question)} of ${days.label} is recorded in ${history.name}; that is no data, not idle GPUs`,
    nextStep:
      "Ask for another window (--week, --month, --from with --to), or see since when the past is kept: fairlead ledger query.",
  };
}

function ofTeam({ team }: ReviewQuestion): string {
  return team === null ? "" : ` of team ${JSON.stringify(team.slice(0, 100))}`;
}
