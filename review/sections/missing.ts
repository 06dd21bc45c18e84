import type { Review } from "../document/review.ts";

/** Whether a part about the whole cluster is left out without explanation, because the review is of one team. */
export const isOfNoTeam = ({ team }: Pick<Review, "team">, part: unknown): boolean => team !== null && part === null;

/** Says in one line why a section has no content. */
export function missingText({ team, source }: Pick<Review, "team" | "source">): string {
  if (team !== null) return "Not part of the review of one team.";
  if (source === "prometheus") return "Not known: a metrics server does not keep it. Ask a ledger for it.";
  if (source === "merged") return "Not known: not every merged review has it.";
  return "Not known: nobody recorded it in this time.";
}
