/** The sizes of work that waits are distinguished by, in physical GPUs. */
export const sizeClasses = ["<1", "1", "2-7", "8", "9-63", "64+", "unknown"] as const;

export type SizeClass = (typeof sizeClasses)[number];

/** The class of work that asks for this many GPUs; `null` if that is not known. */
export function sizeClassOf(gpus: number | null): SizeClass {
  if (gpus === null || !(gpus >= 0)) return "unknown";
  if (gpus < 1) return "<1";
  if (gpus < 2) return "1";
  if (gpus < 8) return "2-7";
  if (gpus < 9) return "8";
  return gpus < 64 ? "9-63" : "64+";
}
