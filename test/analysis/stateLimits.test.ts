import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { accountStates } from "../../exporter/analysis/states.ts";
import { emptyMemory } from "../../exporter/join/memory.ts";
import type { ServingView } from "../../exporter/join/serving/servingViews.ts";
import type { Device, Holding, PodView } from "../../exporter/join/snapshot.ts";
import type { ServingPage } from "../../exporter/model/serving.ts";
import { now } from "../join/clusterBuilder.ts";
import { anyCluster } from "../join/clusterGenerator.ts";
import { defaultSettings, joined, stateSettings, statesOf } from "../join/outcomes.ts";
import { device, holding, moment, podView } from "./momentBuilder.ts";

const hours = (amount: number): number => amount * 3600;

const quietFor = (seconds: number, changes: Partial<ServingView> = {}): ServingView => ({
  page: 0,
  servers: ["vllm"],
  running: 0,
  waiting: 0,
  finished: 5,
  noRequestsSince: now - seconds,
  isAsleep: false,
  served: null,
  ...changes,
});

interface Case {
  readonly view?: ServingView;
  readonly pod?: Partial<PodView>;
  readonly held?: Partial<Holding>;
  readonly on?: Partial<Device>;
}

const snapshotOf = ({ view, pod, held, on }: Case) =>
  moment({
    devices: [device({ holders: [holding(held)], ...on })],
    pods: [podView({ workloadClass: "serving", ...pod })],
    ...(view === undefined ? {} : { serving: new Map([[0, view]]) }),
  });

const reasonOf = (given: Case) => accountStates(snapshotOf(given), stateSettings).accountingEntries.list[0]?.idleReason;

/** Kernels that wait for requests keep the GPU wholly busy. */
const polling: Partial<Holding> = { activity: 1 };

describe("a server without requests is idle, whatever its GPU does", () => {
  test.each([
    ["after 7,199 s", 7199, { active: 1 }],
    ["after 7,200 s", 7200, { idle: 1 }],
    ["after two days", hours(48), { idle: 1 }],
  ])("%s", (_case, seconds, states) => {
    expect(statesOf(snapshotOf({ view: quietFor(seconds), held: polling }))).toEqual(states);
  });

  test("the reason says what was seen", () => {
    expect(reasonOf({ view: quietFor(hours(3)), held: polling })).toBe("no-requests");
    expect(reasonOf({ view: quietFor(hours(3), { isAsleep: true }) })).toBe("asleep");
  });

  test("a server that has had no request and on whose GPU nothing runs either: the requests are the reason", () => {
    const held = { activity: 0, idleSince: now - hours(30) };
    expect(reasonOf({ view: quietFor(hours(3)), held })).toBe("no-requests");
    expect(reasonOf({ held })).toBeUndefined();
    expect(statesOf(snapshotOf({ held }))).toEqual({ idle: 1 });
  });

  test("before two hours a sleeping server is what its activity says", () => {
    const view = quietFor(hours(1), { isAsleep: true });
    expect(statesOf(snapshotOf({ view, held: { activity: 0 } }))).toEqual({ underutilized: 1 });
  });

  test("a share of a GPU is idle alone, and everything still adds up", () => {
    const holders = [holding({ ...polling, share: 0.25 }), holding({ ...polling, share: 0.5, pod: 1 })];
    const found = moment({
      devices: [device({ holders })],
      pods: [podView({ workloadClass: "serving" }), podView({ uid: "v", name: "other" })],
      serving: new Map([[0, quietFor(hours(3))]]),
    });
    expect(statesOf(found)).toEqual({ idle: 0.25, active: 0.5, free: 0.25 });
  });
});

describe("it is not idle", () => {
  test.each<readonly [string, Case]>([
    ["without a page", {}],
    ["with requests", { view: quietFor(0, { noRequestsSince: null }) }],
    ["that does not serve", { view: quietFor(hours(3)), pod: { workloadClass: "batch" } }],
    ["that opted out", { view: quietFor(hours(3)), pod: { idleOptOut: true } }],
    ["of a pod that has had the GPU for an hour", { view: quietFor(hours(3)), pod: { boundAt: now - hours(1) } }],
  ])("%s", (_case, given) => {
    expect(statesOf(snapshotOf({ ...given, held: polling }))).toEqual({ active: 1 });
    expect(reasonOf({ ...given, held: polling })).toBeUndefined();
  });

  test("what is not observed stays so: nobody knows what the GPU does", () => {
    expect(statesOf(snapshotOf({ view: quietFor(hours(3)), held: { activity: null } }))).toEqual({ unobserved: 1 });
  });

  test("what cannot be used stays so", () => {
    expect(statesOf(snapshotOf({ view: quietFor(hours(3)), on: { unhealthy: true } }))).toEqual({ unavailable: 1 });
  });
});

/** What a page may say, and since when the counters have been so, hours ago. */
const anyPage = fc.record({
  hours: fc.integer({ min: 0, max: 4 }),
  isEmpty: fc.constantFrom(true, true, false, null),
  finished: fc.constantFrom(5, 5, null),
  isAsleep: fc.constantFrom(true, false, null),
  serves: fc.boolean(),
});

test("in any cluster with any pages the states of a node add up to its GPUs, and what is not known makes nobody idle", () => {
  let found = 0;
  fc.assert(
    fc.property(anyCluster, fc.array(anyPage, { minLength: 1, maxLength: 8 }), (state, said) => {
      const sayOf = (index: number) => said[index % said.length];
      const pods = state.pods.map((pod, i) =>
        sayOf(i)?.serves === true
          ? { ...pod, labels: { ...pod.labels, "fairlead.dev/workload-class": "serving" } }
          : pod,
      );
      const counted = { promptTokens: 1, generatedTokens: 2 };
      const serving = pods.flatMap(({ uid }, i): readonly ServingPage[] => {
        const say = sayOf(i);
        if (say === undefined) return [];
        const { isEmpty, finished, isAsleep } = say;
        const page = { servers: ["vllm" as const], running: null, waiting: null, ...counted };
        return [{ ...page, pod: uid, receivedAt: now, isEmpty, finished, isAsleep }];
      });
      const servers = new Map(
        pods.map(({ uid }, i) => [uid, { ...counted, finished: 5, since: now - hours(sayOf(i)?.hours ?? 0) }] as const),
      );
      const { snapshot } = joined({ ...state, pods, serving }, defaultSettings, { ...emptyMemory, servers });
      const { accountingEntries } = accountStates(snapshot, stateSettings);
      for (const { name, physicalGpus } of snapshot.nodes) {
        if (physicalGpus === null) continue;
        const own = accountingEntries.list.filter(({ node }) => node === name);
        expect(own.reduce((sum, { gpus }) => sum + gpus, 0)).toBeCloseTo(physicalGpus, 9);
      }
      const byUid = new Map(pods.map(({ uid }, i) => [uid, sayOf(i)] as const));
      for (const { pod: index, idleReason } of accountingEntries.list) {
        const pod = index === null ? undefined : snapshot.pods[index];
        if (idleReason === undefined || pod === undefined) continue;
        found += 1;
        const say = byUid.get(pod.uid ?? "");
        expect(pod.workloadClass).toBe("serving");
        expect(say).toMatchObject({ isEmpty: true, finished: 5 });
        expect(say?.hours).toBeGreaterThanOrEqual(2);
        expect(idleReason).toBe(say?.isAsleep === true ? "asleep" : "no-requests");
      }
    }),
    { numRuns: 200, seed: 20_261_125 },
  );
  expect(found).toBeGreaterThan(100);
});
