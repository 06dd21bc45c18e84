import type { Analysis } from "../../exporter/analysis/analysis.ts";
import type { ServerLatency } from "../../exporter/analysis/serving/serverLatency.ts";
import type { ServingView } from "../../exporter/join/serving/servingViews.ts";
import { idleMoment } from "./idleMoment.ts";

const view: ServingView = {
  page: 0,
  servers: ["vllm"],
  running: 0,
  waiting: 0,
  finished: 5,
  noRequestsSince: null,
  isAsleep: false,
  served: { requests: 2, promptTokens: 30, generatedTokens: 40 },
};

const idle = idleMoment([{ team: "ads", name: "chat", model: "A100", gpus: 1, seconds: 86_400 }]);

/** A server that is idle by its activity, and counts its requests. */
export const servingMoment: Analysis = {
  ...idle,
  snapshot: { ...idle.snapshot, serving: new Map([[0, view]]) },
};

/** The same server over its target of half a second to the first token, with 12 requests waiting. */
export const shortServer: ServerLatency = {
  ...{ workload: 0, quantile: 0.95, waiting: 12, replicas: 2, gpusPerReplica: 4, isShort: true },
  latencies: [
    {
      ...{ of: "firstToken", target: 0.5, observed: 240, isLate: true },
      measured: { value: 2.1234, isAtLeast: false },
    },
  ],
  limit: { by: "HorizontalPodAutoscaler chat/llm", maxReplicas: 2 },
};
