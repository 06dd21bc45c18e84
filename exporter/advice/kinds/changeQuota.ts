import { type FindAdvice, nothingFound } from "../candidate.ts";

/** Looks for advice of this kind. */
export const findChangeQuota: FindAdvice = function* () {
  yield;
  return nothingFound;
};
