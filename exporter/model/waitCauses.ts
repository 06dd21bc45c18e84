/** Why work waits; every gang has exactly one cause. */
export const waitCauses = [
  "capacity",
  "fragmentation",
  "topology",
  "quota",
  "constraint",
  "admission_check",
  "gang",
  "scheduler",
  "unknown",
] as const;

export type WaitCause = (typeof waitCauses)[number];
