import type { WithheldAdvice } from "../../model/recommendation.ts";
import { type Candidate, candidatesPerKind, type FindAdvice } from "../candidate.ts";
import { lendUnused } from "./lendUnused.ts";
import { quotaShorts } from "./quotaShorts.ts";
import { raiseLimit } from "./raiseLimit.ts";

/**
 * Advice to change quotas: where work waits for nothing but a limit although GPUs are free that nobody else is owed, the limit
 * goes up; where a queue keeps quota to itself that it has not used for long, some of it goes to a queue that waits.
 */
export const findChangeQuota: FindAdvice = (moment, trial) => {
  const candidates: Candidate[] = [];
  const withheld: WithheldAdvice[] = [];
  // A limit of 0 that was never meant is fixed as what it is, not raised.
  const fixed = new Set(moment.analysis.findings.filter(({ code }) => code === "kai-limit-zero").map(nameOf));
  const shorts = quotaShorts(moment).filter(
    ({ wanted: { view } }) => view.scheduler !== "kai" || !fixed.has(view.name),
  );
  for (const short of shorts.slice(0, candidatesPerKind)) {
    const raised = raiseLimit(moment, trial, short);
    const found = raised.ok ? raised : (lendUnused(moment, trial, short) ?? raised);
    if (found.ok) candidates.push(found.candidate);
    else withheld.push(found.withheld);
  }
  return { candidates, withheld };
};

const nameOf = ({ name }: { readonly name: string }): string => name;
