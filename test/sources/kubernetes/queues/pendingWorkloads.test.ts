import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  type AskedQueue,
  createPendingWorkloads,
  type PendingWorkloadsReader,
} from "../../../../exporter/sources/kubernetes/queues/pendingWorkloads.ts";
import { createFakeClock, type FakeClock } from "../fakeClock.ts";
import { answer, type Call, type ScriptedApi, settled, startScriptedApi } from "../scriptedApi.ts";

const group = "/apis/visibility.kueue.x-k8s.io";

/** As Kueue 0.19 answers (apis/visibility/v1beta2, pkg/visibility/storage). */
const summary = (...names: readonly string[]): object => ({
  kind: "PendingWorkloadsSummary",
  apiVersion: "visibility.kueue.x-k8s.io/v1beta2",
  metadata: {},
  items: names.map((name, position) => ({
    metadata: { name, namespace: "team", creationTimestamp: "2026-11-20T10:00:00Z" },
    priority: 0,
    localQueueName: "main",
    positionInClusterQueue: position,
    positionInLocalQueue: position,
  })),
});

const served = {
  kind: "APIResourceList",
  resources: [
    { name: "clusterqueues", kind: "ClusterQueue", namespaced: false, verbs: [] },
    { name: "clusterqueues/pendingworkloads", kind: "PendingWorkloadsSummary", namespaced: false, verbs: ["get"] },
  ],
};

describe("lines that Kueue says itself", () => {
  let [clock, api, reader, queues]: [
    FakeClock,
    ScriptedApi | undefined,
    PendingWorkloadsReader | undefined,
    readonly AskedQueue[],
  ] = [createFakeClock(), undefined, undefined, []];

  const next = async (): Promise<Call> => {
    if (api === undefined) throw new Error("not started");
    return await api.next();
  };
  const lines = () => Object.fromEntries(reader?.read() ?? []);
  /** Until the reader waits for its next round. */
  const round = () => settled("the round is over", () => clock.timers().includes(60));

  beforeEach(async () => {
    clock = createFakeClock();
    api = await startScriptedApi(clock);
    reader = createPendingWorkloads(api.client, clock, () => queues);
  });
  afterEach(async () => {
    const stopped = reader?.stop();
    await api?.close();
    await stopped;
  });

  it("are asked for of queues in which several may wait, and used for three minutes", async () => {
    queues = [
      { name: "busy", pendingWorkloads: 2 },
      { name: "one", pendingWorkloads: 1 },
      { name: "unsaid", pendingWorkloads: null },
    ];
    void reader?.start();
    const discovery = await next();
    expect(discovery.path).toBe(`${group}/v1beta2`);
    answer(discovery, 200, served);
    const first = await next();
    expect([first.path, first.query.get("limit")]).toEqual([
      `${group}/v1beta2/clusterqueues/busy/pendingworkloads`,
      "1000",
    ]);
    answer(first, 200, summary("b", "a"));
    const second = await next();
    expect(second.path).toBe(`${group}/v1beta2/clusterqueues/unsaid/pendingworkloads`);
    answer(second, 200, summary());
    await round();
    expect(lines()).toEqual({ busy: ["team/b", "team/a"], unsaid: [] });
    expect(reader?.read()).toBe(reader?.read());

    clock.advance(60);
    answer(await next(), 503, "down");
    await round();
    clock.advance(60);
    answer(await next(), 503, "down");
    await round();
    expect(lines()).toHaveProperty("busy");
    clock.advance(59.9);
    expect(lines()).toHaveProperty("busy");
    clock.advance(0.1);
    answer(await next(), 503, "down");
    await round();
    clock.advance(1);
    expect(lines()).toEqual({});
  });

  it("are none where the API is not there, may not be read, or says something else", async () => {
    queues = [{ name: "busy", pendingWorkloads: 9 }];
    void reader?.start();
    answer(await next(), 404, "");
    answer(await next(), 404, "");
    await round();
    expect(lines()).toEqual({});
    const oddities = [
      [403, { kind: "Status", message: "forbidden" }],
      [200, { kind: "PodList", items: [] }],
      [200, { kind: "PendingWorkloadsSummary", items: "many" }],
      [200, { kind: "PendingWorkloadsSummary", items: [{ metadata: { name: 7, namespace: "team" } }] }],
      [200, "not JSON"],
    ] as const;
    for (const [status, body] of oddities) {
      clock.advance(60);
      answer(await next(), 200, served);
      answer(await next(), status, body);
      await round();
      expect(lines()).toEqual({});
    }
  });

  it("of many queues are asked for fifty at a time, the oldest first; those of queues without a line are forgotten", async () => {
    queues = Array.from({ length: 60 }, (_, i) => ({ name: `q${String(i).padStart(2, "0")}`, pendingWorkloads: 2 }));
    void reader?.start();
    const answerRound = async (): Promise<readonly string[]> => {
      answer(await next(), 200, served);
      const names: string[] = [];
      for (let i = 0; i < 50; i += 1) {
        const call = await next();
        names.push(call.path.split("/").at(-2) ?? "");
        answer(call, 200, summary("w"));
      }
      await round();
      return names;
    };
    const first = await answerRound();
    clock.advance(60);
    const last = await answerRound();
    expect([first[0], first.at(-1), last.slice(0, 11)]).toEqual([
      "q00",
      "q49",
      [...Array.from({ length: 10 }, (_, i) => `q${50 + i}`), "q00"],
    ]);
    queues = [];
    clock.advance(60);
    await round();
    expect(lines()).toEqual({});
  });
});
