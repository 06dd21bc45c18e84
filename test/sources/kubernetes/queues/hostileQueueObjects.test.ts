import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isRecord } from "../../../../exporter/kernel/parseJson.ts";
import type { Decoded } from "../../../../exporter/sources/kubernetes/decoded.ts";
import {
  decodeKaiPodGroup,
  decodeKaiQueue,
  decodeSchedulingShard,
} from "../../../../exporter/sources/kubernetes/queues/decodeKai.ts";
import {
  decodeClusterQueue,
  decodeCohort,
  decodeLocalQueue,
  decodeResourceFlavor,
  decodeWorkloadPriorityClass,
} from "../../../../exporter/sources/kubernetes/queues/decodeKueueQueues.ts";
import { decodeResourceQuota } from "../../../../exporter/sources/kubernetes/queues/decodeQuotaRules.ts";
import { decodeHyperNode, decodeTopology } from "../../../../exporter/sources/kubernetes/queues/decodeTopology.ts";
import {
  decodeVolcanoPodGroup,
  decodeVolcanoQueue,
} from "../../../../exporter/sources/kubernetes/queues/decodeVolcano.ts";
import { decodeWorkload } from "../../../../exporter/sources/kubernetes/queues/decodeWorkload.ts";
import { createEvictionWatch } from "../../../../exporter/sources/kubernetes/queues/evictionWatch.ts";
import { kueueEviction } from "../../../../exporter/sources/kubernetes/queues/kueueEviction.ts";
import { createFakeClock } from "../fakeClock.ts";
import { capturedItems, recordOf } from "./capturedList.ts";
import { hyperNodes, topology } from "./topologyObjects.ts";

type Decode = (value: unknown) => Decoded<unknown>;

/** Each decoder, and real objects to spoil. */
const subjects: readonly (readonly [string, Decode, readonly unknown[]])[] = [
  ["ClusterQueue", decodeClusterQueue, capturedItems("kueue-0.19/clusterQueues")],
  ["LocalQueue", decodeLocalQueue, capturedItems("kueue-0.19/localQueues")],
  ["Cohort", decodeCohort, capturedItems("kueue-0.19/cohorts")],
  ["ResourceFlavor", decodeResourceFlavor, capturedItems("kueue-0.19/resourceFlavors")],
  ["Workload", decodeWorkload, capturedItems("kueue-0.19/workloads")],
  ["WorkloadPriorityClass", decodeWorkloadPriorityClass, capturedItems("kueue-0.19/workloadPriorityClasses")],
  ["Queue of KAI", decodeKaiQueue, capturedItems("kai-0.12/queues")],
  ["PodGroup of KAI", decodeKaiPodGroup, capturedItems("kai-0.12/podGroups")],
  ["SchedulingShard", decodeSchedulingShard, capturedItems("kai-0.12/schedulingShards")],
  ["Queue of Volcano", decodeVolcanoQueue, capturedItems("volcano-1.15/proportion/queues")],
  ["PodGroup of Volcano", decodeVolcanoPodGroup, capturedItems("volcano-1.15/proportion/podGroups")],
  ["Topology", decodeTopology, [topology]],
  ["HyperNode", decodeHyperNode, hyperNodes],
  [
    "ResourceQuota",
    decodeResourceQuota,
    [
      {
        metadata: { name: "q", namespace: "ns" },
        spec: { hard: { "requests.nvidia.com/gpu": "8" } },
        status: { used: { "requests.nvidia.com/gpu": "3" } },
      },
    ],
  ],
];

const junk = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    true,
    -1,
    1e308,
    "",
    "x".repeat(2000),
    [],
    {},
    [null],
    [[]],
    "-1m",
    "NaN",
    "2026-13-45",
  ),
  fc.string(),
  fc.double(),
  fc.constant(JSON.parse('{"__proto__": {"polluted": "yes"}, "constructor": "1", "toString": "2"}')),
);

/** A copy in which the value at one place, found by walking `steps`, is another one. */
function spoiled(value: unknown, steps: readonly number[], other: unknown): unknown {
  const [step = 0, ...rest] = steps;
  if (Array.isArray(value) && value.length > 0 && steps.length > 0) {
    const entries: readonly unknown[] = value;
    return entries.map((entry, index) => (index === step % entries.length ? spoiled(entry, rest, other) : entry));
  }
  if (isRecord(value) && Object.keys(value).length > 0 && steps.length > 0) {
    const keys = Object.keys(value);
    const key = keys[step % keys.length] ?? "";
    return { ...value, [key]: spoiled(value[key], rest, other) };
  }
  return other;
}

/** The longest text in a record, and whether any key is a prototype's. */
function examine(value: unknown): { readonly longest: number; readonly isPolluted: boolean } {
  if (typeof value === "string") return { longest: value.length, isPolluted: false };
  const entries: readonly unknown[] = Array.isArray(value) ? value : isRecord(value) ? Object.values(value) : [];
  const own = isRecord(value) && Object.hasOwn(value, "__proto__");
  return entries
    .map(examine)
    .reduce(
      (all, one) => ({ longest: Math.max(all.longest, one.longest), isPolluted: all.isPolluted || one.isPolluted }),
      { longest: 0, isPolluted: own },
    );
}

describe("a queue object that is not what it should be", () => {
  it.each(subjects)("%s becomes a bounded record or a named problem", (_, decode, objects) => {
    const property = fc.property(
      fc.nat(100),
      fc.array(fc.nat(40), { minLength: 1, maxLength: 9 }),
      junk,
      (pick, steps, other) => {
        const decoded = decode(spoiled(objects[pick % objects.length], steps, other));
        if (decoded.ok) {
          const { longest, isPolluted } = examine(decoded.value);
          expect(isPolluted).toBe(false);
          // Names of objects are the API server's to bound; files may say anything.
          expect(longest).toBeLessThanOrEqual(2000);
        } else {
          expect(decoded.problem.code).toBe("malformed-object");
          expect(decoded.problem.message.length).toBeLessThan(5000);
        }
      },
    );
    fc.assert(property, { seed: 20261121, numRuns: 300 });
    expect(Object.hasOwn(Object.prototype, "polluted")).toBe(false);
  });

  it.each(subjects)("%s is read whole where nothing is spoiled", (_, decode, objects) => {
    for (const object of objects) expect(decode(object).ok).toBe(true);
  });

  it("keeps of a huge Workload only what is bounded", () => {
    const long = "m".repeat(1_000_000);
    const podSet = { name: long, count: 1, template: { spec: {} } };
    const workload = recordOf(
      decodeWorkload({
        metadata: { name: "w", namespace: "ns", annotations: { "fairlead.dev/checkpointed-at": long } },
        spec: { queueName: long, podSets: Array.from({ length: 5000 }, () => podSet) },
        status: {
          conditions: Array.from({ length: 5000 }, () => ({
            type: "Evicted",
            status: "True",
            reason: long,
            message: long,
          })),
          schedulingStats: { evictions: Array.from({ length: 5000 }, () => ({ reason: long, count: 1 })) },
        },
      }),
    );
    expect(JSON.stringify(workload).length).toBeLessThan(60_000);
  });

  it("evicts nobody with a message that is made to look like another one", () => {
    const clock = createFakeClock();
    const watch = createEvictionWatch(clock);
    const message = `(UID: ${"u".repeat(10_000)}, JobUID: ) preemptee path: ${"/".repeat(10_000)}`;
    const conditions = [
      { type: "Evicted", status: "True", reason: "Preempted", message, lastTransitionTime: "2026-11-20T10:00:00Z" },
    ];
    const row = recordOf(
      decodeWorkload({ metadata: { name: "w", namespace: "ns", uid: "u" }, status: { conditions } }),
    );
    watch.onWorkload(undefined, row);
    expect(watch.evictions()).toMatchObject([{ preemptor: null, queue: null, allocated: {} }]);
    expect(kueueEviction(undefined, row)?.key).toBe(`u@${Date.parse("2026-11-20T10:00:00Z") / 1000}`);
  });
});
