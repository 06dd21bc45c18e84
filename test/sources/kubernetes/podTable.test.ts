import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { PodPhase } from "../../../exporter/model/pod.ts";
import type { PodRow } from "../../../exporter/sources/kubernetes/decodePod.ts";
import { createPodColumns } from "../../../exporter/sources/kubernetes/podColumns.ts";
import { createPodTable } from "../../../exporter/sources/kubernetes/podTable.ts";

const row: fc.Arbitrary<PodRow> = fc.record({
  uid: fc.constantFrom(..."abcdefghijklmnop"),
  namespace: fc.constantFrom("x", "y", "z"),
  nodeName: fc.constantFrom(null, "n1", "n2", "n3"),
  phase: fc.constantFrom<PodPhase>("Pending", "Running", "Succeeded", "Failed", "Unknown"),
  cpuMilli: fc.nat({ max: 10_000 }),
  memoryBytes: fc.nat({ max: 2 ** 30 }),
});
const step = fc.oneof(
  { weight: 3, arbitrary: row.map((put) => ({ put, remove: null })) },
  { weight: 1, arbitrary: fc.constantFrom(..."abcdefghijklmnop").map((remove) => ({ put: null, remove })) },
);

/** The same by objects in a map: what the columns must agree with. */
function naiveRequests(rows: Iterable<PodRow>): Record<string, object> {
  const sums: Record<string, { pods: number; cpuMilli: number; memoryBytes: number }> = {};
  for (const { nodeName, phase, cpuMilli, memoryBytes } of rows) {
    if (nodeName === null || phase === "Succeeded" || phase === "Failed") continue;
    const sum = sums[nodeName] ?? { pods: 0, cpuMilli: 0, memoryBytes: 0 };
    sums[nodeName] = {
      pods: sum.pods + 1,
      cpuMilli: sum.cpuMilli + cpuMilli,
      memoryBytes: sum.memoryBytes + memoryBytes,
    };
  }
  return sums;
}

describe("the columns of pods", () => {
  it("say the same as a map of objects after any sequence of changes", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const columns = createPodColumns(2);
        const naive = new Map<string, PodRow>();
        for (const { put, remove } of steps) {
          if (put !== null) {
            columns.put(put);
            naive.set(put.uid, put);
          } else {
            columns.remove(remove);
            naive.delete(remove);
          }
        }
        expect(columns.size).toBe(naive.size);
        for (const uid of "abcdefghijklmnop") expect(columns.get(uid)).toEqual(naive.get(uid) ?? null);
        expect(Object.fromEntries(columns.requestsByNode())).toEqual(naiveRequests(naive.values()));
      }),
      { seed: 1 },
    );
  });
});

describe("the table of pods", () => {
  const plain = (uid: string): { pod: PodRow; gpuPod: null; exporterPod: null } => ({
    pod: { uid, namespace: "x", nodeName: "n1", phase: "Running", cpuMilli: 1, memoryBytes: 1 },
    gpuPod: null,
    exporterPod: null,
  });

  it("is replaced in one step", () => {
    const table = createPodTable();
    table.put("old", plain("old"));
    const replacement = table.startReplacement();
    replacement.add("new", plain("new"));
    replacement.add("newer", plain("newer"));
    expect(table.size).toBe(1);
    replacement.commit();
    expect(table.size).toBe(2);
    expect(table.requestsByNode().get("n1")?.pods).toBe(2);
  });

  it("gives the same arrays until something in them changes", () => {
    const table = createPodTable();
    table.put("a", plain("a"));
    const [pods, exporters, requests] = [table.gpuPods(), table.exporterPods(), table.requestsByNode()];
    expect(table.requestsByNode()).toBe(requests);
    table.put("b", plain("b"));
    expect(table.gpuPods()).toBe(pods);
    expect(table.exporterPods()).toBe(exporters);
    expect(table.requestsByNode()).not.toBe(requests);
  });
});
