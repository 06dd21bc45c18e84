import type { RequestHandler, Response } from "express";
import { userOf } from "../front/caller.ts";
import { type Refusal, refusal, sendRefusal } from "./refusal.ts";

/** Users of the web configuration who may see the data of some teams alone, and these teams (`teams`). */
export type TeamsByUser = Readonly<Record<string, readonly string[]>>;

/** The teams whose data may be seen; `null`: everything. */
export type VisibleTeams = ReadonlySet<string> | null;

/** Returns what the user of a request may see: everything if no users are configured, or if the user has no `teams`. */
export function visibleTeams(teams: TeamsByUser | undefined, response: Response): VisibleTeams {
  const user = userOf(response);
  return teams !== undefined && Object.hasOwn(teams, user) ? new Set(teams[user]) : null;
}

/**
 * Lets users with teams have only these paths, whose answers are made for their teams alone. A path that is not listed is
 * refused, so that a new one does not show the data of other teams by mistake.
 */
export function onlyTeamPaths(teams: TeamsByUser | undefined, paths: readonly string[]): RequestHandler {
  const allowed: ReadonlySet<string> = new Set(paths);
  return (request, response, next) => {
    const visible = visibleTeams(teams, response);
    if (visible === null) return next();
    const isReading = request.method === "GET" || request.method === "HEAD";
    if (isReading && allowed.has(request.path.replace(/\/$/, ""))) return next();
    sendRefusal(response, beyondTeams(visible, `Ask for one of: ${paths.join(", ")}.`));
  };
}

/** Refuses an answer because it would show more than the teams that the user may see. */
export function beyondTeams(visible: ReadonlySet<string>, nextStep: string): Refusal {
  const names = [...visible].map((team) => JSON.stringify(team)).join(", ");
  return refusal(`this would show more than the teams that you may see (${names})`, nextStep, 403);
}
