import type { Analysis } from "../../../exporter/analysis/analysis.ts";
import type { Problem } from "../../../exporter/model/problem.ts";
import type { Advice } from "../../../exporter/model/recommendation.ts";
import { queueMoment } from "../queueMoment.ts";
import { severalAdvice } from "../severalAdvice.ts";

const long = (stem: string, index: number): string => `${stem}-${"x".repeat(50)}-${index}`;

/** A moment with so many teams, whose names are as long as a label may be. */
export function manyTeams(count: number): Analysis {
  const [first] = queueMoment.teams;
  if (first === undefined) throw new Error("the moment has no team");
  const names = Array.from({ length: count }, (_, i) => long("team", i));
  const teams = names.map((team, i) => ({ ...first, team, allocated: i }));
  const shares = names.map((team, i) => ({ team, domain: 0, entitled: i, allocated: i, deviation: 0 }));
  const [model] = queueMoment.fairness.teams;
  if (model === undefined) throw new Error("the moment has no team with a share");
  return {
    ...queueMoment,
    teams,
    fairness: { ...queueMoment.fairness, teams: shares.map((share) => ({ ...model, ...share })) },
  };
}

/** This many open needs, each with all that advice has. */
export function manyNeeds(count: number): Advice {
  const open = severalAdvice.recommendations.filter(({ state }) => state === "open");
  const recommendations = Array.from({ length: count }, (_, i) => {
    const one = open[i % open.length];
    if (one === undefined) throw new Error("nothing is open");
    return { ...one, id: `r-${i.toString(16).padStart(10, "0")}` };
  });
  return { ...severalAdvice, recommendations };
}

/** This many problems of different kinds. */
export function manyProblems(count: number): readonly Problem[] {
  return Array.from({ length: count }, (_, i) => ({
    source: "kubernetes",
    code: `code_${i}`,
    severity: "warning",
    subject: long("node", i),
    message: `${long("node", i)} says something that is wrong, in a sentence of some length`,
    nextStep: "Do something about it, and look again.",
  }));
}
