import type { TelemetryPage } from "../../model/telemetry.ts";

/**
 * The pages of several sources, best source first, as one list: only the best source of a node counts. An exporter's own page
 * is newer than what a server scraped from it, and contains no less. If the two were mixed, a pod label that is gone from the
 * page would live on for one more scrape.
 */
export function preferPages(sources: readonly (readonly TelemetryPage[])[]): readonly TelemetryPage[] {
  const taken = new Set<string>();
  const chosen: TelemetryPage[] = [];
  for (const pages of sources) {
    chosen.push(...pages.filter(({ node }) => node === null || !taken.has(node)));
    for (const { node } of pages) if (node !== null) taken.add(node);
  }
  return chosen;
}
