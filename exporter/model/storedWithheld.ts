import type { WithheldAdvice } from "./recommendation.ts";

/** That something was withheld for one reason for some time, as the ledger keeps it. Times are seconds since the epoch. */
export interface StoredWithheld extends Pick<WithheldAdvice, "kind" | "subject" | "why" | "reason"> {
  /** From kind, subject and reason without its numbers: the same reason has the same id, whichever replica found it. */
  readonly id: string;
  /** With the id it names the row. */
  readonly begins: number;
  /** When it was seen to be so last, as far as that has been kept. */
  readonly ends: number;
}
