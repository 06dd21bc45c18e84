import { beforeEach, describe, expect, it } from "vitest";
import type { Pod } from "../../../../exporter/model/pod.ts";
import type { Eviction } from "../../../../exporter/model/queues/eviction.ts";
import type { KaiPodGroup } from "../../../../exporter/model/queues/kai.ts";
import type { KueueWorkload } from "../../../../exporter/model/queues/kueue.ts";
import { decodePod } from "../../../../exporter/sources/kubernetes/decodePod.ts";
import { createRowTable } from "../../../../exporter/sources/kubernetes/objectTable.ts";
import { decodeKaiPodGroup } from "../../../../exporter/sources/kubernetes/queues/decodeKai.ts";
import { decodeWorkload } from "../../../../exporter/sources/kubernetes/queues/decodeWorkload.ts";
import { createEvictionLog } from "../../../../exporter/sources/kubernetes/queues/evictionLog.ts";
import {
  createEvictionWatch,
  type EvictionWatch,
} from "../../../../exporter/sources/kubernetes/queues/evictionWatch.ts";
import { kueueEviction } from "../../../../exporter/sources/kubernetes/queues/kueueEviction.ts";
import { createFakeClock, type FakeClock } from "../fakeClock.ts";
import { capturedRow, recordOf } from "./capturedList.ts";

const at = (minute: number): string => new Date(Date.UTC(2026, 10, 20, 10, minute)).toISOString();
const seconds = (minute: number): number => Date.UTC(2026, 10, 20, 10, minute) / 1000;

/** Kueue's message (pkg/scheduler/preemption, v0.19). */
const preemptedFor = (reason: string): string =>
  `Preempted to accommodate a workload (UID: wl-2, JobUID: job-2) due to ${reason}; preemptor path: /all/a; preemptee path: /all/b`;
const reclaimed = preemptedFor("reclamation within the cohort");

const condition = (type: string, minute: number, status = "True", reason = type, message = ""): object => ({
  type,
  status,
  reason,
  message,
  lastTransitionTime: at(minute),
});
const admission = {
  clusterQueue: "b",
  podSetAssignments: [{ name: "main", count: 4, resourceUsage: { "nvidia.com/gpu": "8", cpu: "4" } }],
};
const workload = (status: object): KueueWorkload =>
  recordOf(
    decodeWorkload({
      metadata: {
        name: "w",
        namespace: "ns",
        uid: "wl-1",
        annotations: { "fairlead.dev/checkpointed-at": at(20) },
      },
      spec: { priorityClassRef: { name: "routine" } },
      status,
    }),
  );

const pending = workload({ conditions: [condition("QuotaReserved", 0, "False", "Pending")] });
const admitted = workload({ admission, conditions: [condition("QuotaReserved", 1), condition("Admitted", 2)] });
const preemptedNow = [
  condition("Evicted", 30, "True", "Preempted", reclaimed),
  condition("Preempted", 30, "True", "InCohortReclamation", reclaimed),
];
const evicted = workload({
  admission,
  conditions: [condition("QuotaReserved", 1), condition("Admitted", 2), ...preemptedNow],
});
const waitsAgain = workload({
  conditions: [condition("QuotaReserved", 31, "False", "Pending"), condition("Admitted", 31, "False"), ...preemptedNow],
});
const reservedAgain = workload({
  admission,
  conditions: [
    condition("QuotaReserved", 32),
    condition("Evicted", 32, "False", "QuotaReserved", `Previously: ${reclaimed}`),
    condition("Preempted", 32, "False", "QuotaReserved", `Previously: ${reclaimed}`),
  ],
});

const whole: Eviction = {
  key: `wl-1@${seconds(30)}`,
  scheduler: "kueue",
  kind: "Workload",
  namespace: "ns",
  name: "w",
  uid: "wl-1",
  at: seconds(30),
  reason: "InCohortReclamation",
  isPreemption: true,
  preemptor: "wl-2",
  queue: "b",
  priorityClass: "routine",
  allocated: { "nvidia.com/gpu": 8, cpu: 4 },
  allocatedSince: seconds(2),
  checkpointedAt: seconds(20),
};

describe("an eviction by Kueue", () => {
  it("is reported with what the workload held before, and since when", () => {
    expect(kueueEviction(admitted, evicted)).toEqual(whole);
  });

  it("is reported whole even if the admission is gone at the first look", () => {
    expect(kueueEviction(admitted, waitsAgain)).toEqual(whole);
  });

  it("is reported once, and not again when it is over", () => {
    expect(kueueEviction(evicted, waitsAgain)).toBeNull();
    expect(kueueEviction(waitsAgain, reservedAgain)).toBeNull();
  });

  it("is reported for a workload that is seen for the first time, with what the object still says", () => {
    const first = kueueEviction(undefined, waitsAgain);
    expect(first).toEqual({ ...whole, allocated: {}, allocatedSince: null });
  });

  it("that came and went between two looks is reported at the time of the new reservation", () => {
    expect(kueueEviction(admitted, reservedAgain)).toEqual({ ...whole, key: `wl-1@${seconds(32)}`, at: seconds(32) });
  });

  it("of long ago is not reported for a workload that is seen for the first time and runs again", () => {
    expect(kueueEviction(undefined, reservedAgain)).toBeNull();
  });

  it("that follows another one is reported for itself", () => {
    const again = workload({
      conditions: [
        condition("Evicted", 40, "True", "PodsReadyTimeout", "Exceeded the PodsReady timeout"),
        condition("QuotaReserved", 41, "False"),
      ],
    });
    expect(kueueEviction(waitsAgain, again)).toMatchObject({
      at: seconds(40),
      reason: "PodsReadyTimeout",
      isPreemption: false,
      preemptor: null,
    });
  });

  it("of work that held nothing is none", () => {
    const stopped = workload({ conditions: [condition("Evicted", 5, "True", "Deactivated", "by the user")] });
    expect(kueueEviction(pending, stopped)).toBeNull();
  });

  it("that is no preemption and came and went between two looks goes by the count that grew", () => {
    const counts = (count: number): object => ({ evictions: [{ reason: "NodeFailures", underlyingCause: "", count }] });
    const before = {
      ...admitted,
      ...workload({ admission, schedulingStats: counts(1), conditions: [condition("Admitted", 2)] }),
    };
    const after = workload({
      admission,
      schedulingStats: counts(2),
      conditions: [condition("Evicted", 32, "False", "QuotaReserved", "Previously: node n failed")],
    });
    expect(kueueEviction(before, after)).toMatchObject({
      reason: "NodeFailures",
      isPreemption: false,
      at: seconds(32),
    });
  });

  it("leaves out what ended pods have given back", () => {
    const running = workload({
      admission,
      reclaimablePods: [{ name: "main", count: 1 }],
      conditions: [condition("Admitted", 2)],
    });
    expect(kueueEviction(running, evicted)?.allocated).toEqual({ "nvidia.com/gpu": 6, cpu: 3 });
  });

  it.each([
    ["prioritization in the ClusterQueue", "InClusterQueue"],
    ["reclamation within the cohort", "InCohortReclamation"],
    ["Fair Sharing within the cohort", "InCohortFairSharing"],
    ["reclamation within the cohort while borrowing", "InCohortReclaimWhileBorrowing"],
    ["something new", "Preempted"],
  ])("due to %s is called %s when its condition is gone", (words, reason) => {
    const cleared = condition("Evicted", 32, "False", "QuotaReserved", `Previously: ${preemptedFor(words)}`);
    expect(kueueEviction(admitted, workload({ admission, conditions: [cleared] }))?.reason).toBe(reason);
  });

  it.each([
    ["Preempted to accommodate a workload (UID: wl-9) due to reclamation within the cohort", "wl-9"],
    ["Preempted to accommodate a workload (UID: UNKNOWN, JobUID: job-9) due to x", "job-9"],
    ["Preempted to accommodate a workload (UID: UNKNOWN, JobUID: UNKNOWN) due to x", null],
    ["Preempted to accommodate a higher priority Workload", null],
  ])("with the message %s has the preemptor %s", (message, preemptor) => {
    const now = workload({ admission, conditions: [condition("Evicted", 30, "True", "Preempted", message)] });
    expect(kueueEviction(admitted, now)?.preemptor).toBe(preemptor);
  });

  it("is found in what Kueue 0.19 really writes", () => {
    const { row } = capturedRow("kueue-0.19/workloads", "job-vision-borrows-", decodeWorkload);
    const preemptor = capturedRow("kueue-0.19/workloads", "job-language-late-", decodeWorkload).row;
    expect(kueueEviction(undefined, row)).toMatchObject({
      reason: "InCohortReclamation",
      isPreemption: true,
      preemptor: preemptor.uid,
      queue: "vision",
    });
  });
});

let clock: FakeClock;
let watch: EvictionWatch;

beforeEach(() => {
  clock = createFakeClock();
  watch = createEvictionWatch(clock);
});

describe("the watch for evictions", () => {
  it("reports what a table sees, also when all is listed anew", () => {
    const table = createRowTable<KueueWorkload>(watch.onWorkload);
    table.put("wl-1", admitted);
    const listed = table.startReplacement();
    listed.add("wl-1", waitsAgain);
    listed.commit();
    expect(watch.evictions()).toEqual([whole]);
    expect(watch.evictions()).toBe(watch.evictions());
  });

  it("reports one for 15 minutes, and never again", () => {
    watch.onWorkload(admitted, evicted);
    clock.advance(899);
    expect(watch.evictions()).toHaveLength(1);
    clock.advance(2);
    expect(watch.evictions()).toEqual([]);
    watch.onWorkload(undefined, evicted);
    expect(watch.evictions()).toEqual([]);
  });
});

describe("the log of evictions", () => {
  const eviction = (key: string): Eviction => ({ ...whole, key });

  it("forgets the oldest beyond its limit", () => {
    const log = createEvictionLog(clock, 2);
    for (const key of ["a", "b", "c"]) log.note(eviction(key));
    expect(log.evictions().map(({ key }) => key)).toEqual(["b", "c"]);
  });

  it("keeps the record that knows more", () => {
    const log = createEvictionLog(clock);
    log.note({ ...whole, allocatedSince: null });
    log.note(whole);
    log.note({ ...whole, preemptor: null });
    expect(log.evictions()).toEqual([whole]);
  });
});

/** A PodGroup of KAI that started at minute 1. */
const group = (allocated: string | null, annotations: Record<string, string> = {}): KaiPodGroup =>
  recordOf(
    decodeKaiPodGroup({
      metadata: {
        name: "pg-a",
        namespace: "ns",
        uid: "pg-1",
        annotations: { "kai.scheduler/last-start-timestamp": at(1), ...annotations },
      },
      spec: { queue: "q", priorityClassName: "train" },
      status: { resourcesStatus: allocated === null ? {} : { allocated: { "nvidia.com/gpu": allocated } } },
    }),
  );
const evictedAt = (minute: number): Record<string, string> => ({ "kai.scheduler/last-eviction-timestamp": at(minute) });

const pod = (
  name: string,
  annotations: Record<string, string>,
  labels: Record<string, string>,
  schedulerName = "default-scheduler",
): Pod => {
  const decoded = recordOf(
    decodePod({
      metadata: { name, namespace: "ns", uid: `uid-${name}`, annotations, labels },
      spec: {
        nodeName: "n",
        schedulerName,
        priorityClassName: "low",
        containers: [{ name: "c", resources: { limits: { "nvidia.com/gpu": "2" } } }],
      },
      status: { phase: "Running", startTime: at(1) },
    }),
  );
  if (decoded.gpuPod === null) throw new Error("no GPUs");
  return decoded.gpuPod;
};
const kaiPod = (name: string): Pod =>
  pod(name, { "pod-group-name": "pg-a" }, { "kai.scheduler/queue": "q", priorityClassName: "train" }, "kai-scheduler");
const preemptedByKai = "Pod ns/p was preempted by workload other/pg-b. q uses <GPUs: 8> with a quota of <GPUs: 4>";

describe("an eviction by KAI", () => {
  it("is known by the group's annotation, with what the group held", () => {
    watch.onKaiPodGroup(group("4"), group(null, evictedAt(30)));
    expect(watch.evictions()).toEqual([]);
    clock.advance(10);
    expect(watch.evictions()).toMatchObject([
      {
        scheduler: "kai",
        kind: "PodGroup",
        uid: "pg-1",
        at: seconds(30),
        reason: "Evicted",
        queue: "q",
        allocated: { "nvidia.com/gpu": 4 },
        allocatedSince: seconds(1),
      },
    ]);
  });

  it("knows what the group held when that was taken away first", () => {
    watch.onKaiPodGroup(group("4"), group(null));
    clock.advance(5);
    watch.onKaiPodGroup(group(null), group(null, evictedAt(30)));
    clock.advance(10);
    expect(watch.evictions()).toMatchObject([{ allocated: { "nvidia.com/gpu": 4 }, allocatedSince: seconds(1) }]);
  });

  it("is reported once, whether the group or its pods say first", () => {
    watch.onPreemptedPod(kaiPod("p1"), { at: seconds(30) - 1, message: preemptedByKai });
    watch.onKaiPodGroup(group("4"), group(null, evictedAt(30)));
    watch.onPreemptedPod(kaiPod("p2"), { at: seconds(30), message: preemptedByKai });
    clock.advance(10);
    expect(watch.evictions()).toMatchObject([
      {
        uid: "pg-1",
        allocated: { "nvidia.com/gpu": 4 },
        reason: "Reclaimed",
        preemptor: "other/pg-b",
        allocatedSince: seconds(1),
      },
    ]);
    const other = createEvictionWatch(clock);
    other.onKaiPodGroup(group("4"), group(null, evictedAt(30)));
    other.onPreemptedPod(kaiPod("p1"), { at: seconds(30), message: preemptedByKai });
    clock.advance(10);
    expect(other.evictions()).toMatchObject([{ allocated: { "nvidia.com/gpu": 4 }, preemptor: "other/pg-b" }]);
  });

  it("is put together of its pods where the group says nothing, as before v0.17", () => {
    for (const name of ["p1", "p2", "p1"]) {
      watch.onPreemptedPod(kaiPod(name), { at: seconds(30), message: preemptedByKai });
    }
    clock.advance(10);
    expect(watch.evictions()).toMatchObject([
      {
        kind: "PodGroup",
        name: "pg-a",
        queue: "q",
        priorityClass: "train",
        allocated: { "nvidia.com/gpu": 4 },
        allocatedSince: seconds(1),
      },
    ]);
  });

  it.each([
    ["Pod ns/p was preempted by higher priority workload other/pg-b", "Preempted", true, "other/pg-b"],
    [preemptedByKai, "Reclaimed", true, "other/pg-b"],
    [
      "Pod ns/p was preempted and rescheduled due to bin packing (resource consolidation) procedure",
      "Consolidated",
      false,
      null,
    ],
    [
      "Workload doesn't meet the minimum required number of pods (2), evicting remaining pod: ns/p",
      "StaleGang",
      false,
      null,
    ],
  ])("with the message %s is called %s", (message, reason, isPreemption, preemptor) => {
    watch.onPreemptedPod(kaiPod("p"), { at: seconds(30), message });
    clock.advance(10);
    expect(watch.evictions()).toMatchObject([{ reason, isPreemption, preemptor }]);
  });

  it("is called stale in the words of older versions, too", () => {
    const message = "Workload doesn't have the minimum required number of pods (2), evicting remaining pod: ns/p";
    watch.onPreemptedPod(kaiPod("p"), { at: seconds(30), message });
    clock.advance(10);
    expect(watch.evictions()).toMatchObject([{ reason: "StaleGang", isPreemption: false }]);
  });

  it("of long ago is not reported for a group that is seen for the first time and runs again", () => {
    watch.onKaiPodGroup(undefined, group("4", { ...evictedAt(30), "kai.scheduler/last-start-timestamp": at(31) }));
    clock.advance(10);
    expect(watch.evictions()).toEqual([]);
    watch.onKaiPodGroup(undefined, group(null, evictedAt(30)));
    clock.advance(10);
    expect(watch.evictions()).toHaveLength(1);
  });

  it("of a gang that was stale already is no preemption", () => {
    const stale = { "kai.scheduler/stale-podgroup-timestamp": at(29) };
    watch.onKaiPodGroup(group("4", stale), group(null, { ...stale, ...evictedAt(30) }));
    clock.advance(10);
    expect(watch.evictions()).toMatchObject([{ reason: "StaleGang", isPreemption: false }]);
  });
});

describe("a preemption that only pods report", () => {
  it("is one of the group's in Volcano", () => {
    const annotations = { "scheduling.k8s.io/group-name": "g", "volcano.sh/queue-name": "batch" };
    const message = "volcano: preempting to accommodate a higher priority pod";
    for (const name of ["p1", "p2"])
      watch.onPreemptedPod(pod(name, annotations, {}, "volcano"), { at: seconds(30), message });
    clock.advance(10);
    expect(watch.evictions()).toMatchObject([
      {
        scheduler: "volcano",
        kind: "PodGroup",
        name: "g",
        uid: "ns/g",
        queue: "batch",
        allocated: { "nvidia.com/gpu": 4 },
        preemptor: null,
      },
    ]);
  });

  it("is in no queue that only a label names, of pods that another scheduler places", () => {
    const kai = pod("p1", { "pod-group-name": "a" }, { "kai.scheduler/queue": "victim" });
    const volcano = pod("p2", { "scheduling.k8s.io/group-name": "b", "volcano.sh/queue-name": "victim" }, {});
    for (const one of [kai, volcano]) watch.onPreemptedPod(one, { at: seconds(30), message: "" });
    clock.advance(10);
    expect(watch.evictions().map(({ queue }) => queue)).toEqual([null, null]);
  });

  it("is the pod's own with kube-scheduler, and reported at once", () => {
    watch.onPreemptedPod(pod("p", {}, {}), { at: seconds(30), message: "" });
    expect(watch.evictions()).toMatchObject([
      {
        scheduler: "none",
        kind: "Pod",
        uid: "uid-p",
        isPreemption: true,
        allocated: { "nvidia.com/gpu": 2 },
        priorityClass: "low",
      },
    ]);
  });
});
