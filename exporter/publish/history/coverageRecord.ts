/** How much of a window an answer is; of a window that reaches into the future, only what has passed counts. */
export function coverageRecord(
  { from, to, coveredSeconds }: { readonly from: number; readonly to: number; readonly coveredSeconds: number },
  now: number,
) {
  const windowSeconds = Math.max(0, Math.min(to, now) - from);
  return { windowSeconds, coveredSeconds, ratio: windowSeconds > 0 ? Math.min(1, coveredSeconds / windowSeconds) : 0 };
}
