/** An amount of GPUs as messages show it: at most three decimals. */
export function shownGpus(gpus: number): string {
  return String(Math.round(gpus * 1000) / 1000);
}
