import { describe, expect, test } from "vitest";
import { type LatencySettings, measureLatencies } from "../../../exporter/analysis/serving/serverLatency.ts";
import type { ServingView } from "../../../exporter/join/serving/servingViews.ts";
import type { Snapshot } from "../../../exporter/join/snapshot.ts";
import { unknownAutoscalers } from "../../../exporter/model/autoscalers.ts";
import { servingMoment } from "../../publish/servingMoment.ts";

const inf = Number.POSITIVE_INFINITY;
const { snapshot } = servingMoment;
const [pod] = snapshot.pods;
const [workload] = snapshot.workloads;
if (pod === undefined || workload === undefined) throw new Error("no pod");

/** The requests within a second, within two, and in all. */
const firstToken = (...[one, two, all]: readonly [number, number, number]) =>
  new Map([
    [1, one],
    [2, two],
    [inf, all],
  ]);

/** A workload of servers with these histograms and waiting requests. */
function moment(servers: readonly Partial<ServingView>[], changes: Partial<Snapshot> = {}): Snapshot {
  const [view] = snapshot.serving?.values() ?? [];
  if (view === undefined || pod === undefined) throw new Error("no view");
  return {
    ...snapshot,
    pods: servers.map((_, i) => ({ ...pod, uid: `uid-${i}`, workload: 0, workloadClass: "serving", gpus: 4 })),
    serving: new Map(servers.map((one, i) => [i, { ...view, page: i, ...one }] as const)),
    ...changes,
  };
}

const within = (...counts: readonly [number, number, number]): Partial<ServingView> => ({
  waiting: 3,
  latency: { firstToken: firstToken(...counts), perToken: new Map() },
});

const aSecond: LatencySettings = {
  latencyTargets: [{ namespace: "*", workload: "*", firstTokenSeconds: 1, quantile: 0.95 }],
};
const measured = (servers: readonly Partial<ServingView>[], settings = aSecond, changes = {}) =>
  measureLatencies(moment(servers, changes), settings)[0];

describe("a workload that serves", () => {
  test("is short where its latency is over the target while requests wait", () => {
    const found = measured([within(50, 100, 100), within(40, 100, 100)]);
    expect(found).toMatchObject({ workload: 0, waiting: 6, replicas: 2, gpusPerReplica: 4, isShort: true });
    expect(found?.latencies).toEqual([
      {
        of: "firstToken",
        target: 1,
        observed: 200,
        isLate: true,
        measured: { value: 1 + 100 / 110, isAtLeast: false },
      },
    ]);
  });

  test.each([
    ["is within its target", [within(99, 100, 100)], false],
    [
      "is over its target, but nothing waits: another replica would not help",
      [{ ...within(50, 100, 100), waiting: 0 }],
      true,
    ],
    ["is over its target, and does not say what waits", [{ ...within(50, 100, 100), waiting: null }], true],
  ])("is not short where it %s", (_what, servers, isLate) => {
    const found = measured(servers);
    expect(found?.isShort).toBe(false);
    expect(found?.latencies[0]?.isLate).toBe(isLate);
  });

  test.each([
    ["few requests", [within(5, 19, 19)]],
    ["no histogram", [{ waiting: 9 }]],
    ["one server without a histogram", [within(50, 100, 100), { waiting: 9 }]],
    [
      "servers of other buckets",
      [
        within(50, 100, 100),
        {
          waiting: 1,
          latency: {
            firstToken: new Map([
              [3, 1],
              [inf, 99],
            ]),
            perToken: new Map(),
          },
        },
      ],
    ],
  ])("is not judged with %s", (_what, servers) => {
    expect(measured(servers)).toMatchObject({ isShort: false, latencies: [{ measured: null, isLate: null }] });
  });

  test("above all buckets is late only if these reach the target", () => {
    const targets = (firstTokenSeconds: number) => ({
      latencyTargets: [{ namespace: "*", workload: "*", firstTokenSeconds, quantile: 0.95 }],
    });
    const slow = [within(0, 10, 100)];
    expect(measured(slow, targets(2))?.latencies[0]).toMatchObject({
      isLate: true,
      measured: { value: 2, isAtLeast: true },
    });
    expect(measured(slow, targets(30))?.latencies[0]?.isLate).toBeNull();
  });

  test("has the first target that matches its namespace and name, and none without", () => {
    const other = { namespace: "nobody-*", workload: "*", firstTokenSeconds: 9, quantile: 0.5 };
    const own = { namespace: workload.namespace, workload: "ch*", firstTokenSeconds: 7, quantile: 0.5 };
    const servers = [within(50, 100, 100)];
    expect(measured(servers, { latencyTargets: [other, own] })?.latencies[0]?.target).toBe(7);
    expect(measured(servers, { latencyTargets: [other] })).toBeUndefined();
    expect(measured(servers, {})).toBeUndefined();
  });

  test("knows the most replicas that its autoscalers allow", () => {
    const owners = [{ apiVersion: "apps/v1", kind: "Deployment", name: "chat", uid: "u" }];
    const target = { apiVersion: "apps/v1", kind: "Deployment", name: "chat" };
    const hpa = { namespace: workload.namespace, name: "chat", target, minReplicas: 1, owner: null };
    const changes = (maxReplicas: number | null) => ({
      workloads: [{ ...workload, owners }],
      autoscalers: { ...unknownAutoscalers, horizontal: [{ ...hpa, maxReplicas }] },
    });
    expect(measured([within(50, 100, 100)], aSecond, changes(3))?.limit).toEqual({
      by: `HorizontalPodAutoscaler ${workload.namespace}/chat`,
      maxReplicas: 3,
    });
    expect(measured([within(50, 100, 100)], aSecond, changes(null))?.limit).toBeNull();
  });

  test("is one replica of its gang's GPUs", () => {
    const servers = moment([within(50, 100, 100), {}]);
    const gang = { id: "g", min: 2, bound: 2, partialSince: null };
    const pods = servers.pods.map((one) => ({ ...one, gang }));
    const [view] = servers.serving?.values() ?? [];
    if (view === undefined) throw new Error("no view");
    const serving = new Map([
      [0, view],
      [1, { ...view, page: 0 }],
    ]);
    const [found] = measureLatencies({ ...servers, pods, serving }, aSecond);
    expect(found).toMatchObject({ replicas: 1, gpusPerReplica: 8 });
  });
});
