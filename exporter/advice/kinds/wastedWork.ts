import { type Candidate, candidatesPerKind, type FindAdvice } from "../candidate.ts";
import { withheldPerKind } from "./ownGpus.ts";
import { findReleaseIdle } from "./releaseIdle.ts";
import { findStalledWork } from "./stalledWork.ts";

/**
 * Advice about work that holds GPUs and does nothing with them: idle work, and work that looks busy and computes nothing.
 * Advice that can be done comes before questions: if there are too many, questions are left out.
 */
export const findWastedWork: FindAdvice = (moment, trial) => {
  const stalled = findStalledWork(moment, trial);
  const idle = findReleaseIdle(moment, trial);
  const candidates = [...stalled.candidates, ...idle.candidates].toSorted(
    (a, b) => Number(isAsk(a)) - Number(isAsk(b)),
  );
  return {
    candidates: candidates.slice(0, candidatesPerKind),
    withheld: [...stalled.withheld, ...idle.withheld].slice(0, withheldPerKind),
  };
};

const isAsk = ({ decision }: Candidate): boolean => decision?.act === "ask";
