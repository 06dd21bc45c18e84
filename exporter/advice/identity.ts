import { createHash } from "node:crypto";
import type { AdviceKind } from "../model/recommendation.ts";
import type { Candidate } from "./candidate.ts";

/** The id of advice: from its kind and what it acts on, so that the same advice has the same one in every cycle, also after a restart. */
export function adviceId({ kind, targets }: Pick<Candidate, "kind" | "targets">): string {
  const text = JSON.stringify([kind, ...[...targets].sort()]);
  return `r-${createHash("sha256").update(text).digest("hex").slice(0, 10)}`;
}

/** A team may have many things of these kinds to mend, each for itself. */
const eachForItself: ReadonlySet<AdviceKind> = new Set<AdviceKind>([
  "release_idle",
  "right_size",
  "share_gpu",
  "fix_scheduler",
]);

/** What advice is needed for: there is one plan at most for each need. */
export function needOf({ kind, beneficiary, targets }: Pick<Candidate, "kind" | "beneficiary" | "targets">): string {
  const need = `${kind}/${beneficiary.kind}/${beneficiary.name}`;
  return eachForItself.has(kind) ? `${need}/${[...targets].sort().join(",")}` : need;
}
