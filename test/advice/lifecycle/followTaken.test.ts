import { describe, expect, test } from "vitest";
import { createTakenFollower } from "../../../exporter/advice/lifecycle/followTaken.ts";
import { momentIndex } from "../../../exporter/advice/momentIndex.ts";
import type { Offer } from "../../../exporter/advice/offer.ts";
import type { PodView } from "../../../exporter/join/snapshot.ts";
import type { MeasuredEffect } from "../../../exporter/model/recommendation.ts";
import { pod, smallMoment, workload } from "../../publish/moment.ts";
import { offer, settings, start } from "./offers.ts";

const hour = 3600;
const restartHours = settings.restartMinutes / 60;

/** A moment in which the one workload `Job/search/rank` has these pods. */
function indexOf(at: number, pods: readonly Partial<PodView>[], ended: readonly string[] = []) {
  const views = pods.map((parts) => pod({ gpus: 8, workload: 0, node: "h100-01", boundAt: start, ...parts }));
  const workloads =
    pods.length === 0 ? [] : [workload({ namespace: "search", name: "rank", pods: views.map((_, i) => i) })];
  const snapshot = { ...smallMoment.snapshot, at, pods: views, workloads, endedPods: new Set(ended) };
  return momentIndex({ ...smallMoment, snapshot });
}

const starts: Offer = offer({}, { measuredBy: { kind: "work-started", work: ["Job/search/rank"] }, disrupted: [] });
const releases: Offer = offer(
  { kind: "release_idle" },
  { measuredBy: { kind: "work-released", work: ["Job/search/rank"], gpus: 8 }, disrupted: [] },
);

/** What is reported after each of some looks, the first of them in the moment in which the plan was taken. */
function reported(
  plan: Offer,
  looks: readonly (readonly [at: number, pods: readonly Partial<PodView>[], ended?: readonly string[]])[],
): readonly MeasuredEffect[] {
  const follower = createTakenFollower(settings);
  const all: MeasuredEffect[] = [];
  for (const [at, pods, ended] of looks) {
    const before = all.at(-1);
    const moment = indexOf(at, pods, ended);
    all.push(before === undefined ? follower.begin(plan, moment, at) : follower.goOn(plan, start, before, moment, at));
  }
  return all;
}

describe("work that a plan let start", () => {
  test("has lost its place when its pods are gone and it waits: what it had done is lost, and its restart", () => {
    const [, , last] = reported(starts, [
      [start, [{ uid: "a" }]],
      [start + hour, [{ uid: "a" }]],
      [start + 2 * hour, [{ uid: "b", status: "pending", node: null, boundAt: null }]],
    ]);
    expect(last?.undone).toEqual({ how: "evicted-again", at: start + 2 * hour, gpus: 8 });
    expect(last?.lostGpuHours).toBeCloseTo(8 * (2 + restartHours), 9);
    // The gain was there when the cool-down was over.
    expect(last).toMatchObject({ gainedGpus: 8, isFinal: true });
  });

  test("loses since its last checkpoint only", () => {
    const [, last] = reported(starts, [
      [start, [{ uid: "a", checkpointedAt: start + 600 }]],
      [start + 1200, [{ uid: "b", boundAt: start + 1200 }]],
    ]);
    expect(last?.undone).toMatchObject({ how: "evicted-again" });
    expect(last?.lostGpuHours).toBeCloseTo(8 * (600 / hour + restartHours), 9);
  });

  test.each([
    ["ended by itself", [] as const, ["a"]],
    ["was deleted with its pods", [] as const, []],
    ["runs on", [{ uid: "a" }] as const, []],
  ])("is not undone when it %s", (_, pods, ended) => {
    const [, last] = reported(starts, [
      [start, [{ uid: "a" }]],
      [start + hour, pods, ended],
    ]);
    expect(last).toMatchObject({ undone: null, lostGpuHours: 0 });
  });

  test("is not undone when what serves requests is replaced by a new version of it", () => {
    const serving = { workloadClass: "serving" } as const;
    const [, last] = reported(starts, [
      [start, [{ uid: "a", ...serving }]],
      [start + hour, [{ uid: "b", ...serving }]],
    ]);
    expect(last).toMatchObject({ undone: null, lostGpuHours: 0 });
  });
});

describe("work that a plan released", () => {
  const back = [{ uid: "b", status: "pending", node: null } as const];

  test("has come back when it asks for GPUs again, placed or not", () => {
    const [, last] = reported(releases, [
      [start, []],
      [start + 60, back],
    ]);
    expect(last?.undone).toEqual({ how: "came-back", at: start + 60, gpus: 8 });
  });

  test("is reported once, with its first time", () => {
    const [, , , last] = reported(releases, [
      [start, []],
      [start + 60, back],
      [start + 120, []],
      [start + 180, back],
    ]);
    expect(last?.undone?.at).toBe(start + 60);
  });

  test("is not looked for any more when the horizon is over", () => {
    const end = start + settings.horizonHours * hour;
    const looks = (at: number) =>
      reported(releases, [
        [start, []],
        [start + hour, []],
        [at, back],
      ]).at(-1)?.undone;
    expect(looks(end)).toMatchObject({ how: "came-back" });
    expect(looks(end + 1)).toBeNull();
  });

  test("is compared with the first look of a new process", () => {
    const follower = createTakenFollower(settings);
    const before = { gainedGpus: 8, lostGpuHours: 0, at: start, isFinal: true, undone: null };
    const first = follower.goOn(releases, start, before, indexOf(start + 60, []), start + 60);
    expect(first).toBe(before);
    const then = follower.goOn(releases, start, first, indexOf(start + 120, back), start + 120);
    expect(then.undone).toMatchObject({ how: "came-back", gpus: 8 });
  });
});
