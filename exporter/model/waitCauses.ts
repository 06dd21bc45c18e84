/** Why work waits: exactly one for each gang. */
export const waitCauses = [
  "capacity",
  "fragmentation",
  "quota",
  "constraint",
  "admission_check",
  "gang",
  "scheduler",
  "unknown",
] as const;

export type WaitCause = (typeof waitCauses)[number];
