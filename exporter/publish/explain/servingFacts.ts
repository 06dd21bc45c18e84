import { costPerMillionTokens, type ServedWork, tokensPerGpuHour } from "../../accounts/servedWork.ts";
import type { Analysis } from "../../analysis/analysis.ts";
import type { MeasuredLatency, ServerLatency } from "../../analysis/serving/serverLatency.ts";
import { noRequestsSince, stateLimits } from "../../analysis/stateLimits.ts";
import type { ServingView } from "../../join/serving/servingViews.ts";
import type { Snapshot } from "../../join/snapshot.ts";
import type { LatencyKind } from "../../model/serving.ts";
import { instant } from "../document/order.ts";
import { duration } from "../terminal/columns.ts";
import type { Fact } from "./schema.ts";

/**
 * What the servers of these pods report about requests, in one fact for all that report the same; none where no server is
 * asked.
 */
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

const latencyNames: Readonly<Record<LatencyKind, string>> = {
  firstToken: "time to first token",
  perToken: "time per output token",
};

/** How the latencies of a workload compare with their targets, and what would help; none without a target. */
export function latencyFacts(workload: number, { latencies }: Pick<Analysis, "latencies">): readonly Fact[] {
  const found = latencies.find((one) => one.workload === workload);
  if (found === undefined) return [];
  return [...found.latencies.map((one) => latencyFact(one, found)), ...(found.isShort ? [shortFact(found)] : [])];
}

function latencyFact({ of, target, measured, observed, isLate }: MeasuredLatency, { quantile }: ServerLatency): Fact {
  const name = latencyNames[of];
  const what = `${100 * quantile} % within ${seconds(target)} is its target (serving.latencyTargets)`;
  if (measured === null) {
    const why = observed > 0 ? `only ${observed} were observed` : "its servers have no histogram of it that adds up";
    return { name, value: "not known", how: `${why} in the last five minutes; ${what}` };
  }
  const state =
    isLate === null ? "whether it keeps the target is not known" : isLate ? "over its target" : "within its target";
  const value = `${measured.isAtLeast ? "more than " : ""}${seconds(measured.value)}, ${state}`;
  return {
    name,
    value,
    how: `by the histograms of its servers over the last five minutes, ${observed} observed; ${what}`,
  };
}

function shortFact({ waiting, replicas, gpusPerReplica, limit }: ServerLatency): Fact {
  const each = gpusPerReplica === null ? "an unknown number of GPUs" : `${gpusPerReplica} GPUs`;
  const isFull = limit !== null && replicas >= limit.maxReplicas;
  const most =
    limit === null ? "" : `; ${limit.by} allows ${limit.maxReplicas}${isFull ? ", so raise that first" : ""}`;
  return {
    name: "would gain from",
    value: `one replica more: ${each}`,
    how: `${waiting ?? 0} requests wait on its ${replicas} ${replicas === 1 ? "replica" : "replicas"} while it is over its target${most}`,
  };
}

const seconds = (value: number): string =>
  value < 1 ? `${Number((1000 * value).toPrecision(3))} ms` : `${Number(value.toPrecision(3))} s`;

/** What a workload has served for its GPU time, and what a million tokens cost; none without counters. */
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
