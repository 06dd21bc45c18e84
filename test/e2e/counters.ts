import { expect } from "vitest";
import type { PlayedCluster } from "../../cli/demo/playCluster.ts";
import { readPage } from "../publish/readPage.ts";

/** Every running total of Fairlead's own on the page of the last cycle, by name and labels. */
export function totalsOnPage(cluster: PlayedCluster): Map<string, number> {
  const text = cluster.stack.latest()?.page.toString("utf8") ?? "";
  const totals = new Map<string, number>();
  for (const { name, labels, value } of readPage(text))
    if (name.startsWith("fairlead_") && name.endsWith("_total"))
      totals.set(`${name} ${JSON.stringify([...labels])}`, value);
  return totals;
}

/** What was there before is still there, and not less. */
export function expectNothingFell(before: ReadonlyMap<string, number>, after: ReadonlyMap<string, number>): void {
  for (const [key, value] of before) {
    expect(after.has(key), `${key} is still there`).toBe(true);
    expect(after.get(key) ?? -1, key).toBeGreaterThanOrEqual(value);
  }
}

/** GPU-seconds of a page by the values of some labels. */
export function gpuSecondsBy(
  cluster: PlayedCluster,
  keyOf: (labels: ReadonlyMap<string, string>) => string,
): Map<string, number> {
  const text = cluster.stack.latest()?.page.toString("utf8") ?? "";
  const sums = new Map<string, number>();
  for (const { name, labels, value } of readPage(text)) {
    if (name !== "fairlead_gpu_seconds_total") continue;
    const key = keyOf(labels);
    sums.set(key, (sums.get(key) ?? 0) + value);
  }
  return sums;
}
