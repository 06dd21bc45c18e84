import { describe, expect, it } from "vitest";
import { measurePlacement } from "../../../exporter/analysis/placement/measurePlacement.ts";
import { noQueueing } from "../../../exporter/join/queues/queueing.ts";
import { podNeeds } from "../../queues/kueueRows.ts";
import { podView } from "../momentBuilder.ts";
import { part, waitingGang } from "../waiting/waitingBuilder.ts";
import { asks, byPods, placementMoment, podsLike, targetShape } from "./placementBuilder.ts";

const targetOf = (...args: Parameters<typeof measurePlacement>) => measurePlacement(...args).target;
const sizes = (target: ReturnType<typeof targetOf>) => target.shapes.map(({ gpus, pods }) => [gpus, pods]);

describe("the target workload", () => {
  it("is the smallest set of shapes that covers 95 % of the pods, the most common first", () => {
    const pods = [...podsLike(4, asks(8)), ...podsLike(61, asks(1)), ...podsLike(34, asks(2)), ...podsLike(1, asks(4))];
    const target = targetOf(placementMoment([], pods), byPods);
    expect(target).toMatchObject({ source: "pods", pods: 100 });
    expect(sizes(target)).toEqual([
      [1, 61],
      [2, 34],
    ]);
    expect(target.shapes.map(({ popularity }) => popularity)).toEqual([61 / 95, 34 / 95]);
  });

  it("is a fixed mix with fewer than 20 pods", () => {
    const target = targetOf(placementMoment([], podsLike(19, asks(3, 5, 7))), byPods);
    expect(target).toMatchObject({ source: "fixed", pods: 19 });
    expect(target.shapes.map(({ gpus, popularity, pods }) => [gpus, popularity, pods])).toEqual([
      [1, 0.25, null],
      [2, 0.25, null],
      [4, 0.25, null],
      [8, 0.25, null],
    ]);
    expect(targetOf(placementMoment([], podsLike(20, asks(3, 5, 7))), byPods).source).toBe("pods");
  });

  it("takes pods together that ask alike, whatever object says so, and in whatever order", () => {
    const one = asks(1, 4, 16, { nodeSelector: { zone: "a", kind: "b" } });
    const same = asks(1, 4, 16, { nodeSelector: { kind: "b", zone: "a" } });
    const other = asks(1, 4, 16, { nodeSelector: { zone: "a", kind: "c" } });
    const pods = [...podsLike(10, one), ...podsLike(11, other), ...podsLike(10, same)];
    const target = targetOf(placementMoment([], pods), byPods);
    expect(target.shapes.map(({ pods: count }) => count)).toEqual([20, 11]);
    const turned = targetOf(placementMoment([], pods.toReversed()), byPods);
    expect(turned.shapes.map(({ popularity }) => popularity)).toEqual([20 / 31, 11 / 31]);
  });

  it("leaves out pods whose requests are not known", () => {
    const pods = [
      ...podsLike(20, asks(1)),
      podView({ gpus: null, needs: asks(1) }),
      podView({ gpus: 1, needs: null }),
      podView({ gpus: 0, needs: asks(0) }),
    ];
    expect(targetOf(placementMoment([], pods), byPods).pods).toBe(20);
  });

  it("counts members of waiting gangs that nobody has created yet, unless they can never run", () => {
    const snapshot = placementMoment([], podsLike(20, asks(1)));
    const gangs = [
      waitingGang([part(8, 2, { createdPods: 3 }), part(4, 8, { createdPods: 4 })]),
      waitingGang([part(100, 4)], { never: "paused" }),
      waitingGang([part(7, null)]),
    ];
    const target = targetOf({ ...snapshot, queueing: { ...noQueueing, gangs } }, byPods);
    expect(target.pods).toBe(25);
    expect(sizes(target)).toEqual([
      [1, 20],
      [2, 5],
    ]);
  });

  it("counts pods that have ended", () => {
    const ended = [
      { gpus: 1, needs: asks(1), pods: 100 },
      { gpus: 4, needs: asks(4), pods: 50 },
    ];
    const target = targetOf(placementMoment([], podsLike(20, asks(1))), { targetWorkload: [], ended });
    expect(sizes(target)).toEqual([
      [1, 120],
      [4, 50],
    ]);
  });

  it("keeps shares of a GPU, replicas and MIG instances apart", () => {
    const pods = [
      ...podsLike(10, podNeeds({}), 0.5),
      ...podsLike(9, podNeeds({ "nvidia.com/gpu": 2 }), 0.5),
      ...podsLike(8, podNeeds({ "nvidia.com/mig-3g.40gb": 1 }), 0.5),
      ...podsLike(7, podNeeds({ "nvidia.com/mig-3g.40gb": 1 }), 3 / 7),
    ];
    expect(targetOf(placementMoment([], pods), byPods).shapes.map(({ pods: count }) => count)).toEqual([10, 9, 8, 7]);
  });

  it("is what is configured, whatever runs", () => {
    const targetWorkload = [
      targetShape({
        gpus: 4,
        cpu: 32,
        memoryBytes: 5e11,
        models: ["H100"],
        nodeSelector: { zone: "a" },
        popularity: 30,
      }),
      targetShape({ gpus: 0.5, popularity: 60 }),
      targetShape({ gpus: 1 / 7, migProfile: "1g.10gb", popularity: 10 }),
    ];
    const target = targetOf(placementMoment([], podsLike(50, asks(1))), { targetWorkload, ended: null });
    expect(target).toMatchObject({
      source: "configured",
      pods: 0,
      shapes: [
        {
          gpus: 4,
          popularity: 0.3,
          pods: null,
          models: ["H100"],
          needs: { requests: { "nvidia.com/gpu": 4, cpu: 32, memory: 5e11 }, nodeSelector: { zone: "a" } },
        },
        { gpus: 0.5, popularity: 0.6, needs: { requests: {} } },
        { gpus: 1 / 7, popularity: 0.1, needs: { requests: { "nvidia.com/mig-1g.10gb": 1 } } },
      ],
    });
  });

  it("has at most 200 shapes, however many someone makes up", () => {
    const pods = Array.from({ length: 2_000 }, (_, i) => podView({ gpus: 1, needs: asks(1, 1 + i) }));
    const target = targetOf(placementMoment([], pods), byPods);
    expect(target.shapes).toHaveLength(200);
    expect(target.shapes.reduce((sum, { popularity }) => sum + popularity, 0)).toBeCloseTo(1, 9);
    expect(target.pods).toBe(2_000);
  });
});
