import type { Analysis } from "../../analysis/analysis.ts";
import type { DispatchedWork } from "../../join/queues/gangFacts.ts";
import { duration, gpus, plainText } from "./columns.ts";
import { askedText } from "./entitlementText.ts";
import { firstOf, fold, type Line } from "./layout.ts";

const shownGangs = 5;

/** Lines about work that neither free GPUs nor quota would start, and what holds it back; none if there is no such work. */
export function heldBackLines({ snapshot, waiting }: Analysis): readonly Line[] {
  const { gangs } = snapshot.queueing;
  const held = waiting.work.flatMap(({ gang: index, ageSeconds }) => {
    const gang = gangs[index];
    return gang?.checks !== undefined || gang?.never === "limit-range" ? [{ ...gang, ageSeconds }] : [];
  });
  if (held.length === 0) return [];
  const lines = firstOf(held, shownGangs, ({ ageSeconds, most = null, growth = null, ...gang }) => {
    const age = ageSeconds === null ? "" : `, for ${duration(ageSeconds)}`;
    const who = `${plainText(gang.kind, 30)} ${plainText(`${gang.namespace}/${gang.name}`, 80)}`;
    return fold(`  ${who}: ${askedText({ ...gang, most, growth })}${age}: ${plainText(gang.reason, 300)}`, "    ");
  });
  return ["HELD BACK BY CHECKS AND LIMITS", ...lines];
}

const shownClusters = 5;

/** Lines about work that runs in other clusters, by cluster; none if there is no such work. */
export function dispatchedLines({ snapshot }: Analysis): readonly Line[] {
  const { dispatched = [] } = snapshot.queueing;
  if (dispatched.length === 0) return [];
  const clusters = [...Map.groupBy(dispatched, ({ cluster }) => cluster)].sort(([, a], [, b]) => b.length - a.length);
  const linesOf = ([cluster, work]: (typeof clusters)[number]) => fold(`  ${clusterText(cluster, work)}`, "    ");
  return [
    "RUNS IN OTHER CLUSTERS (it holds and waits for nothing here)",
    ...firstOf(clusters, shownClusters, linesOf, " clusters"),
  ];
}

/** Says in one sentence what runs in a cluster. */
export function clusterText(cluster: string | null, work: readonly DispatchedWork[]): string {
  const known = work.filter(({ gpus: amount }) => amount !== null);
  const total = known.reduce((sum, { gpus: amount }) => sum + (amount ?? 0), 0);
  const amount = known.length === 0 ? "unknown GPUs" : `${gpus(total)}${known.length < work.length ? "+?" : ""} GPUs`;
  const names = work.slice(0, 4).map(({ kind, namespace, name }) => plainText(`${kind} ${namespace}/${name}`, 80));
  const more = work.length > names.length ? ` and ${work.length - names.length} more` : "";
  return `${cluster === null ? "a cluster that is not named" : plainText(cluster, 60)}: ${amount} for ${names.join(", ")}${more}`;
}
