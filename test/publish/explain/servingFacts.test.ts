import { describe, expect, test } from "vitest";
import type { ServedWork } from "../../../exporter/accounts/servedWork.ts";
import type { ServingView } from "../../../exporter/join/serving/servingViews.ts";
import type { PodView } from "../../../exporter/join/snapshot.ts";
import { requestFacts, servedFacts } from "../../../exporter/publish/explain/servingFacts.ts";
import { moment, podView } from "../../analysis/momentBuilder.ts";
import { now } from "../../join/clusterBuilder.ts";

const view = (changes: Partial<ServingView> = {}): ServingView => ({
  page: 0,
  servers: ["vllm"],
  running: 0,
  waiting: 0,
  finished: 5,
  noRequestsSince: now - 3 * 3600,
  isAsleep: false,
  served: null,
  ...changes,
});

const server = (name: string, changes: Partial<PodView> = {}): PodView =>
  podView({ uid: name, name, workloadClass: "serving", ...changes });

const factsOf = (views: readonly (ServingView | undefined)[], pods = [server("a"), server("b")]) =>
  requestFacts(
    views.map((_view, i) => i),
    {
      snapshot: moment({
        pods,
        serving: new Map(views.flatMap((one, i) => (one === undefined ? [] : [[i, one] as const]))),
      }),
    },
  );

describe("what is said about the requests of a server", () => {
  test("since when there was none, and by which counter", () => {
    const [fact] = factsOf([view()]);
    expect(fact?.value).toBe("none for 3 h");
    expect(fact?.how).toContain("the counter of vllm has stood still at 5 requests that have ended, and 0 run, 0 wait");
  });

  test("that it sleeps", () => {
    expect(factsOf([view({ isAsleep: true })])[0]?.how).toContain("its engines sleep");
  });

  test("what is inside while it has some", () => {
    expect(factsOf([view({ noRequestsSince: null, running: 3 })])).toEqual([
      { name: "requests", value: "3 run, 0 wait", how: "vllm; 5 have ended since it started" },
    ]);
  });

  test("whose page it is, where that is another pod's", () => {
    const [, fact] = factsOf([view(), view({ page: 0 })]);
    expect(fact?.how).toContain("by the page of pod a of its gang");
  });

  test("why nothing is known: no page, no counter", () => {
    expect(factsOf([undefined])[0]).toMatchObject({ value: "not known", how: expect.stringContaining("no page") });
    expect(factsOf([view({ finished: null })])[0]?.how).toContain("does not count the requests that have ended");
  });

  test("replicas that say the same are one fact", () => {
    const facts = factsOf([undefined, undefined]);
    expect(facts).toHaveLength(1);
    expect(facts[0]?.how).toContain("of 2 of its pods");
  });

  test("nothing of work that does not serve, nor where no server is asked", () => {
    expect(factsOf([view()], [server("a", { workloadClass: "batch" })])).toEqual([]);
    expect(requestFacts([0], { snapshot: moment({ pods: [server("a")] }) })).toEqual([]);
  });
});

describe("what a workload has served", () => {
  const work: ServedWork = {
    kind: "Deployment",
    namespace: "chat",
    name: "llm",
    team: "chat",
    since: now - 3600,
    requests: 120,
    promptTokens: 5000,
    generatedTokens: 4_000_000,
    gpuSeconds: 2 * 3600,
    costs: new Map([["USD", 8]]),
  };

  test("tokens per GPU-hour, and the cost of a million", () => {
    const [fact] = servedFacts(work);
    expect(fact?.value).toBe("120 requests, 2000000 generated tokens per GPU-hour");
    expect(fact?.how).toContain("in 2.0 GPU-hours: 4000000 generated tokens; a million of them cost USD 2.00");
  });

  test("what is not known is said, and never 0", () => {
    expect(servedFacts({ ...work, costs: null })[0]?.how).toContain("the cost of a million of them is not known");
    expect(servedFacts({ ...work, generatedTokens: null })[0]).toMatchObject({ value: "120 requests" });
    expect(servedFacts({ ...work, gpuSeconds: 0 })).toEqual([]);
    expect(servedFacts(undefined)).toEqual([]);
  });
});
