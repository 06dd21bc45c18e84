import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { PodPhase } from "../../../exporter/model/pod.ts";
import type { DecodedPod, PodRow } from "../../../exporter/sources/kubernetes/decodePod.ts";
import { labelsOf } from "../../../exporter/sources/kubernetes/keptLabels.ts";
import { createRowTable } from "../../../exporter/sources/kubernetes/objectTable.ts";
import { createPodColumns } from "../../../exporter/sources/kubernetes/podColumns.ts";
import { createPodTable } from "../../../exporter/sources/kubernetes/podTable.ts";

const row: fc.Arbitrary<PodRow> = fc.record({
  uid: fc.constantFrom(..."abcdefghijklmnop"),
  namespace: fc.constantFrom("x", "y", "z"),
  nodeName: fc.constantFrom(null, "n1", "n2", "n3"),
  phase: fc.constantFrom<PodPhase>("Pending", "Running", "Succeeded", "Failed", "Unknown"),
  cpuMilli: fc.nat({ max: 10_000 }),
  memoryBytes: fc.nat({ max: 2 ** 30 }),
  labels: fc.constantFrom("", "[]", '["app","a"]', '["app","b"]'),
  placement: fc.constantFrom(null, null, {
    antiAffinity: [],
    hostPorts: [{ port: 80, protocol: "TCP", address: "0.0.0.0" }],
  }),
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

/** Bound pods without GPUs that have not ended, of one namespace or with rules of their own. */
const naiveNeighbors = (rows: Iterable<PodRow>, wanted: string): readonly string[] =>
  [...rows]
    .filter(({ labels, phase }) => labels !== "" && phase !== "Succeeded" && phase !== "Failed")
    .filter(({ namespace, placement }) => namespace === wanted || placement !== null)
    .flatMap(({ namespace, nodeName, labels, placement }) => {
      const { antiAffinity, hostPorts } = placement ?? { antiAffinity: [], hostPorts: [] };
      const found = { namespace, nodeName, labels: labelsOf(labels), antiAffinity, hostPorts };
      return nodeName === null ? [] : [JSON.stringify(found)];
    })
    .sort();

describe("the columns of pods", () => {
  it("say the same as a map of objects after any sequence of changes", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const columns = createPodColumns();
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
        const found = columns.neighbors(new Set(["x"])).map((one) => JSON.stringify(one));
        expect(found.sort()).toEqual(naiveNeighbors(naive.values(), "x"));
      }),
      { seed: 1 },
    );
  });
});

describe("the table of pods", () => {
  const plain = (uid: string): DecodedPod => ({
    pod: {
      uid,
      namespace: "x",
      nodeName: "n1",
      phase: "Running",
      cpuMilli: 1,
      memoryBytes: 1,
      labels: "[]",
      placement: null,
    },
    gpuPod: null,
    exporterPod: null,
    plainMember: null,
    preemption: null,
  });

  it("lists pods without GPUs that are in a gang of Kubernetes itself", () => {
    const table = createPodTable();
    const plainMember = { namespace: "x", group: { workload: null, name: "train", replica: "" } };
    table.put("a", { ...plain("a"), plainMember });
    table.put("b", plain("b"));
    expect(table.plainGangMembers()).toEqual([plainMember]);
    table.put("a", plain("a"));
    expect(table.plainGangMembers()).toEqual([]);
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

  it("gives the same requests of a node until they change", () => {
    const table = createPodTable();
    table.put("a", plain("a"));
    table.put("b", { ...plain("b"), pod: { ...plain("b").pod, nodeName: "n2" } });
    const requests = table.requestsByNode();
    table.put("a", plain("a"));
    expect(table.requestsByNode()).toBe(requests);
    table.put("c", plain("c"));
    expect(table.requestsByNode().get("n1")).toEqual({ pods: 2, cpuMilli: 2, memoryBytes: 2 });
    expect(table.requestsByNode().get("n2")).toBe(requests.get("n2"));
  });
});

describe("a table of rows", () => {
  const team = (name: string): { name: string; labels: { team: string } } => ({ name, labels: { team: name } });

  it("keeps a row, and its array, that comes again as it was", () => {
    const table = createRowTable<object>();
    table.put("a", team("x"));
    const [rows, revision] = [table.rows(), table.revision];
    table.put("a", team("x"));
    expect(table.rows()).toBe(rows);
    expect(table.revision).toBe(revision);
    table.put("a", team("y"));
    expect(table.rows()).toEqual([team("y")]);
  });

  it("listed anew keeps every row that did not change", () => {
    const table = createRowTable<object>();
    for (const uid of ["a", "b", "c"]) table.put(uid, team(uid));
    const [a, b] = table.rows();
    const replacement = table.startReplacement();
    replacement.add("b", team("b"));
    replacement.add("a", team("other"));
    replacement.add("d", team("d"));
    replacement.commit();
    expect(table.rows()).toEqual([team("b"), team("other"), team("d")]);
    expect(table.rows()[0]).toBe(b);
    expect(table.rows()).not.toContain(a);
  });

  it("listed anew without a change is the same, in whatever order", () => {
    const table = createRowTable<object>();
    for (const uid of ["a", "b"]) table.put(uid, team(uid));
    const [rows, revision] = [table.rows(), table.revision];
    const replacement = table.startReplacement();
    for (const uid of ["b", "a"]) replacement.add(uid, team(uid));
    replacement.commit();
    expect(table.rows()).toBe(rows);
    expect(table.revision).toBe(revision);
  });

  it("listed anew with fewer rows has fewer", () => {
    const table = createRowTable<object>();
    for (const uid of ["a", "b"]) table.put(uid, team(uid));
    const replacement = table.startReplacement();
    replacement.add("a", team("a"));
    replacement.commit();
    expect(table.rows()).toEqual([team("a")]);
  });
});
