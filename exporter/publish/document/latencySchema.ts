import { z } from "zod";
import type { Analysis } from "../../analysis/analysis.ts";
import { latencyKinds } from "../../model/serving.ts";

const latency = z.strictObject({
  of: z.enum(latencyKinds).describe("Time to the first token, or from each token to the next."),
  targetSeconds: z.number(),
  seconds: z.number().nullable().describe("In the last five minutes; null: not measured."),
  isAtLeast: z.boolean().describe("It is above the largest bound of the histograms, which is given."),
  observed: z.number().describe("Requests (tokens) that it is measured on."),
  isLate: z.boolean().nullable().describe("Over its target; null: not known."),
});

/** Latencies of a workload that serves and has a target, for openapi.json. */
export const latencySchema = z.strictObject({
  quantile: z.number().describe("The part of requests (tokens) that should be within the target."),
  latencies: z.array(latency),
  waitingRequests: z.number().nullable().describe("On all its servers, now; null: one of them does not say."),
  replicas: z.number().describe("With a page of their server."),
  gpusPerReplica: z.number().nullable().describe("null: not known, or replicas differ."),
  maxReplicas: z.number().nullable().describe("Of its autoscalers; null: none is known."),
  isShort: z.boolean().describe("Over a target while requests wait: one replica more would help."),
});

type LatencyRecord = z.infer<typeof latencySchema>;

/** The latencies of workloads that have a target, by index of the workload. */
export function latencyRecords({ latencies }: Pick<Analysis, "latencies">): ReadonlyMap<number, LatencyRecord> {
  return new Map(
    latencies.map(({ workload, quantile, latencies: all, waiting, replicas, gpusPerReplica, limit, isShort }) => [
      workload,
      {
        ...{ quantile, waitingRequests: waiting, replicas, gpusPerReplica, isShort },
        maxReplicas: limit?.maxReplicas ?? null,
        latencies: all.map(({ of, target, measured, observed, isLate }) => ({
          ...{ of, targetSeconds: target, observed, isLate },
          seconds: measured?.value ?? null,
          isAtLeast: measured?.isAtLeast ?? false,
        })),
      },
    ]),
  );
}
