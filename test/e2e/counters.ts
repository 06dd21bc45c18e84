import { expect } from "vitest";
import type { PlayedCluster } from "../../cli/demo/playCluster.ts";
import { readPage } from "../publish/readPage.ts";

/** A series is on every page of a play: what its text says is read once. */
const keys = new Map<string, string>();

function keyOfSeries(line: string, series: string): string {
  const known = keys.get(series);
  if (known !== undefined) return known;
  const [sample] = readPage(line);
  const key = `${sample?.name} ${JSON.stringify([...(sample?.labels ?? [])])}`;
  keys.set(series, key);
  return key;
}

/** Every running total of Fairlead's own on the page of the last cycle, by name and labels. */
export function totalsOnPage(cluster: PlayedCluster): Map<string, number> {
  const text = cluster.stack.latest()?.page.toString("utf8") ?? "";
  const totals = new Map<string, number>();
  for (const [line] of text.matchAll(/^fairlead_\w+_total[{ ].*$/gm)) {
    const end = line.lastIndexOf(" ");
    totals.set(keyOfSeries(line, line.slice(0, end)), Number(line.slice(end + 1)));
  }
  return totals;
}

/** What was there before is still there, and not less. */
export function expectNothingFell(before: ReadonlyMap<string, number>, after: ReadonlyMap<string, number>): void {
  // One comparison of all of them: a page has hundreds of totals, and most of a play's time would go into the matcher.
  const fallen = [...before].filter(([key, value]) => !((after.get(key) ?? Number.NaN) >= value));
  expect(
    fallen.map(([key, value]) => `${key}: ${value}, then ${after.get(key) ?? "gone"}`),
    "running totals that fell or are gone",
  ).toEqual([]);
}

/** GPU-seconds of a page by the values of some labels. */
export function gpuSecondsBy(
  cluster: PlayedCluster,
  keyOf: (labels: ReadonlyMap<string, string>) => string,
): Map<string, number> {
  const text = cluster.stack.latest()?.page.toString("utf8") ?? "";
  const sums = new Map<string, number>();
  for (const [line] of text.matchAll(/^fairlead_gpu_seconds_total\{.*$/gm)) {
    const [sample] = readPage(line);
    if (sample === undefined) continue;
    const { labels, value } = sample;
    const key = keyOf(labels);
    sums.set(key, (sums.get(key) ?? 0) + value);
  }
  return sums;
}
