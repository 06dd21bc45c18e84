import { createAccounting } from "../../exporter/accounts/accounting.ts";
import { analyse } from "../../exporter/analysis/analyse.ts";
import type { Analysis } from "../../exporter/analysis/analysis.ts";
import { emptyMemory, type Memory } from "../../exporter/join/memory.ts";
import type { ServingPage } from "../../exporter/model/serving.ts";
import { account, listed } from "../analysis/prices/priceBuilder.ts";
import { gpuNode, gpuPod, now, page, reading } from "../join/clusterBuilder.ts";
import { joined, stateSettings } from "../join/outcomes.ts";

/** Makes a pod one that serves. */
export const servingLabel = { "fairlead.dev/workload-class": "serving" };
/** Seconds between two moments. */
export const step = 30;

/** What a server has counted. */
export interface Counters {
  readonly finished: number;
  readonly generated: number | null;
}

/** The page of `chat` at a moment, without requests inside. */
export const pageOf = (at: number, { finished, generated }: Counters): ServingPage => ({
  pod: "uid-research-chat",
  receivedAt: at,
  servers: ["vllm"],
  running: 0,
  waiting: 0,
  isEmpty: true,
  finished,
  promptTokens: finished * 10,
  generatedTokens: generated,
  isAsleep: false,
});

/** The moments of a server on two busy GPUs with these counters, half a minute apart. */
export function momentsOf(counters: readonly Counters[]): readonly Analysis[] {
  let memory: Memory = emptyMemory;
  return counters.map((one, i) => {
    const at = now + i * step;
    const state = {
      nodes: [gpuNode("n", 4)],
      pods: [gpuPod("chat", "n", 2, { labels: servingLabel })],
      telemetry: [page("n", [reading("GPU-0", 1, "chat"), reading("GPU-1", 1, "chat")], { receivedAt: at })],
      prices: account([listed()]),
      serving: [pageOf(at, one)],
    };
    const found = joined(state, undefined, memory, at);
    memory = found.memory;
    return analyse(found.snapshot, stateSettings);
  });
}

/** The accounts after these moments. */
export function accounted(moments: readonly Analysis[], seconds = step) {
  const accounting = createAccounting({ intervalSeconds: 30, limits: { teams: 10, series: 50_000 } });
  for (const [i, analysis] of moments.entries())
    accounting.account(analysis, { wall: now + i * seconds, monotonic: i * seconds });
  return accounting;
}
