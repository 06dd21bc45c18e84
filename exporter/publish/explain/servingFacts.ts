import { costPerMillionTokens, type ServedWork, tokensPerGpuHour } from "../../accounts/servedWork.ts";
import type { Analysis } from "../../analysis/analysis.ts";
import { noRequestsSince, stateLimits } from "../../analysis/stateLimits.ts";
import type { ServingView } from "../../join/serving/servingViews.ts";
import type { Snapshot } from "../../join/snapshot.ts";
import { instant } from "../document/order.ts";
import { duration } from "../terminal/columns.ts";
import type { Fact } from "./schema.ts";

/** What the servers of these pods say about requests, one fact for all that say the same; nothing where no server is asked. */
export function requestFacts(indices: readonly number[], { snapshot }: Pick<Analysis, "snapshot">): readonly Fact[] {
  const { serving, pods } = snapshot;
  if (serving === undefined || !indices.some((index) => pods[index]?.workloadClass === "serving")) return [];
  const said = new Map<string, { readonly fact: Fact; count: number }>();
  for (const index of indices) {
    if (pods[index]?.status !== "allocated") continue;
    const fact = requestFact(index, serving.get(index), snapshot);
    const key = `${fact.value}\n${fact.how}`;
    const known = said.get(key);
    if (known === undefined) said.set(key, { fact, count: 1 });
    else known.count += 1;
  }
  return [...said.values()].map(({ fact, count }) =>
    count === 1 ? fact : { ...fact, how: `of ${count} of its pods: ${fact.how}` },
  );
}

function requestFact(index: number, view: ServingView | undefined, snapshot: Snapshot): Fact {
  const fact = (value: string, how: string): Fact => ({ name: "requests", value, how });
  const pod = snapshot.pods[index];
  if (view === undefined || pod === undefined)
    return fact("not known", "no page of a server in this pod is read (docs/serving.md)");
  const whose = view.page === index ? "" : `, by the page of pod ${snapshot.pods[view.page]?.name ?? "?"} of its gang`;
  const servers = `${view.servers.join(" with ")}${whose}`;
  if (view.finished === null)
    return fact("not known", `${servers} does not count the requests that have ended, and gauges alone prove nothing`);
  const since = noRequestsSince(view, pod, snapshot.at);
  const now = `${gauge(view.running)} run, ${gauge(view.waiting)} wait`;
  if (since === null) return fact(now, `${servers}; ${view.finished} have ended since it started`);
  const sleeps = view.isAsleep ? ", and its engines sleep, their weights off the GPU" : "";
  const limit = `; after ${duration(stateLimits.noRequestsSeconds)} its GPUs are idle, whatever runs on them`;
  return fact(
    `none for ${duration(snapshot.at - since)}`,
    `since ${instant(since) ?? "?"} the counter of ${servers} has stood still at ${view.finished} requests that have ended, and ${now}${sleeps}${limit}`,
  );
}

const gauge = (count: number | null): string => (count === null ? "an unknown number" : `${count}`);

/** What a workload has served for its GPU time, and what a million tokens cost; nothing without counters. */
export function servedFacts(work: ServedWork | undefined): readonly Fact[] {
  if (work === undefined || !(work.gpuSeconds > 0)) return [];
  const { requests, generatedTokens, since, gpuSeconds } = work;
  const hours = (gpuSeconds / 3600).toFixed(1);
  const counted = `counted since ${instant(since) ?? "?"}, in ${hours} GPU-hours`;
  const rate = tokensPerGpuHour(work);
  if (generatedTokens === null || rate === null)
    return [{ name: "served", value: `${requests} requests`, how: `${counted}; its server does not count tokens` }];
  const costs = [...costPerMillionTokens(work)].map(([currency, cost]) => `${currency} ${cost.toFixed(2)}`);
  const cost =
    costs.length === 0 ? "the cost of a million of them is not known" : `a million of them cost ${costs.join(" and ")}`;
  return [
    {
      name: "served",
      value: `${requests} requests, ${Math.round(rate)} generated tokens per GPU-hour`,
      how: `${counted}: ${generatedTokens} generated tokens; ${cost}`,
    },
  ];
}
