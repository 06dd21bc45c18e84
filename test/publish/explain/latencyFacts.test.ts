import { describe, expect, test } from "vitest";
import type { ServerLatency } from "../../../exporter/analysis/serving/serverLatency.ts";
import { createListBuilder } from "../../../exporter/publish/document/listBuilder.ts";
import { latencyFacts } from "../../../exporter/publish/explain/servingFacts.ts";
import { servingMoment, shortServer } from "../servingMoment.ts";

const [late] = shortServer.latencies;
if (late === undefined) throw new Error("no latency");
const short = shortServer;
const factsOf = (one: ServerLatency) => latencyFacts(0, { latencies: [one] });

describe("what is said of a workload's latencies", () => {
  test("is how they stand to their targets, and what would help", () => {
    expect(factsOf(short)).toEqual([
      {
        name: "time to first token",
        value: "2.12 s, over its target",
        how: "by the histograms of its servers over the last five minutes, 240 observed; 95 % within 500 ms is its target (serving.latencyTargets)",
      },
      {
        name: "would gain from",
        value: "one replica more: 4 GPUs",
        how: "12 requests wait on its 2 replicas while it is over its target; HorizontalPodAutoscaler chat/llm allows 2, so raise that first",
      },
    ]);
  });

  test("says nothing of help where none is needed, and what is not known", () => {
    const met = { ...late, isLate: false, measured: { value: 0.2, isAtLeast: false } };
    expect(factsOf({ ...short, latencies: [met], isShort: false }).map(({ value }) => value)).toEqual([
      "200 ms, within its target",
    ]);
    const unknown = { ...late, isLate: null, measured: null, observed: 3 };
    expect(factsOf({ ...short, latencies: [unknown], isShort: false })).toMatchObject([
      { value: "not known", how: expect.stringContaining("only 3 were observed") },
    ]);
    const above = { ...late, target: 30, isLate: null, measured: { value: 10, isAtLeast: true } };
    expect(factsOf({ ...short, latencies: [above], isShort: false })).toMatchObject([
      { value: "more than 10 s, whether it keeps the target is not known" },
    ]);
    expect(latencyFacts(1, { latencies: [short] })).toEqual([]);
  });

  test("is in the document", () => {
    const analysis = { ...servingMoment, latencies: [short] };
    expect(createListBuilder(analysis).workloads()[0]?.latency).toEqual({
      ...{ quantile: 0.95, waitingRequests: 12, replicas: 2, gpusPerReplica: 4, maxReplicas: 2, isShort: true },
      latencies: [
        { of: "firstToken", targetSeconds: 0.5, seconds: 2.1234, isAtLeast: false, observed: 240, isLate: true },
      ],
    });
  });
});
