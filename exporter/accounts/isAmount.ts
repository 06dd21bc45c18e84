/** Whether a remembered value is a finite number that is not negative: time, GPUs and costs always are. */
export function isAmount(value: unknown): value is number {
  return typeof value === "number" && value >= 0 && Number.isFinite(value);
}
