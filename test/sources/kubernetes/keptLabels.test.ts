import { expect, test } from "vitest";
import { labelProblems } from "../../../exporter/join/fleetProblems.ts";
import { decodeOwner } from "../../../exporter/sources/kubernetes/decodeOwner.ts";
import { decodePod } from "../../../exporter/sources/kubernetes/decodePod.ts";
import { labelsOf, labelsText, maxLabelChars, maxLabels } from "../../../exporter/sources/kubernetes/keptLabels.ts";
import { createPodTable } from "../../../exporter/sources/kubernetes/podTable.ts";

const many = (count: number, chars = 8): Record<string, string> =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`a.example.com/label-${i}`, "v".repeat(chars)]));

function podWith(labels: Record<string, string>, gpus: number) {
  const resources = { limits: { cpu: "1", ...(gpus > 0 ? { "nvidia.com/gpu": `${gpus}` } : {}) } };
  const metadata = { name: "p", namespace: "tenant", uid: "u", labels };
  return { metadata, spec: { containers: [{ name: "a", resources }] }, status: { phase: "Pending" } };
}

function gpuPod(labels: Record<string, string>, readLabels: readonly string[] = []) {
  const decoded = decodePod(podWith(labels, 1), {
    gpuResources: new Set<string>(),
    exporters: [],
    readLabels: new Set(readLabels),
  });
  if (!decoded.ok || decoded.value.gpuPod === null) throw new Error("no pod with GPUs");
  return decoded.value.gpuPod;
}

const charsOf = (labels: Readonly<Record<string, string>>): number =>
  Object.entries(labels).reduce((sum, [key, value]) => sum + key.length + value.length, 0);

test("labels within the bounds are kept, all of them", () => {
  const labels = many(maxLabels);
  expect(charsOf(labels)).toBeLessThan(maxLabelChars);
  expect({ ...gpuPod(labels).labels }).toEqual(labels);
  expect(gpuPod(labels).labelsLeftOut).toBeUndefined();
});

test.each([
  ["too many", many(250)],
  ["too long", many(maxLabels, 200)],
])("of %s those go first that are read by name, or that the configuration names", (_what, labels) => {
  const read = { "kueue.x-k8s.io/queue-name": "q", "fairlead.dev/idle-opt-out": "true", "zz/team": "ads" };
  const pod = gpuPod({ ...labels, ...read }, ["zz/team"]);
  expect(pod.labels).toMatchObject(read);
  expect(pod.labelsLeftOut).toBe(true);
  expect(Object.keys(pod.labels).length).toBeLessThanOrEqual(maxLabels);
  expect(charsOf(pod.labels)).toBeLessThanOrEqual(maxLabelChars);
  expect(gpuPod({ ...read, ...labels }, ["zz/team"]).labels).toEqual(pod.labels);
});

test("pods without GPUs and owners have the same bounds", () => {
  const plain = decodePod(podWith(many(250), 0));
  expect(plain.ok && plain.value.pod.labels.length).toBeLessThan(maxLabelChars + 8 * maxLabels);
  const owner = decodeOwner({
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: { name: "j", uid: "j", labels: many(250) },
  });
  expect(owner.ok && Object.keys(owner.value.labels).length).toBe(maxLabels);
});

test("one problem names the first of the pods, and counts the others", () => {
  const cut = Array.from({ length: 5 }, (_, i) => ({ ...gpuPod(many(250)), name: `p-${i}` }));
  expect(labelProblems([gpuPod(many(3)), ...cut])).toMatchObject([
    {
      code: "labels-left-out",
      message: expect.stringMatching(/^tenant\/p-0, tenant\/p-1, tenant\/p-2 and 2 more have more labels/),
    },
  ]);
  expect(labelProblems([gpuPod(many(3))])).toEqual([]);
});

test("14,000 pods with 250 labels of their own each stay small", () => {
  const table = createPodTable();
  let chars = 0;
  for (let p = 0; p < 14_000; p += 1) {
    const labels = Object.fromEntries(Array.from({ length: 250 }, (_, i) => [`t.example.com/l-${i}`, `v-${p}-${i}`]));
    const decoded = decodePod({
      ...podWith(labels, 1),
      metadata: { name: `p-${p}`, namespace: "t", uid: `u-${p}`, labels },
    });
    if (!decoded.ok) throw new Error(decoded.problem.message);
    table.put(`u-${p}`, decoded.value);
  }
  for (const { labels } of table.gpuPods()) chars += charsOf(labels);
  expect(chars / 14_000).toBeLessThanOrEqual(maxLabelChars);
});

test("pods of one workload have one text, whatever labels distinguish them", () => {
  const of = (index: string) => ({
    app: "db",
    tier: "a",
    "statefulset.kubernetes.io/pod-name": `db-${index}`,
    "apps.kubernetes.io/pod-index": index,
    "batch.kubernetes.io/job-completion-index": index,
    "batch.kubernetes.io/controller-uid": index,
    "controller-uid": index,
  });
  expect(labelsText(of("0"))).toBe(labelsText(of("1")));
  expect(labelsText({ tier: "a", app: "db" })).toBe(labelsText(of("0")));
  expect({ ...labelsOf(labelsText(of("0"))) }).toEqual({ app: "db", tier: "a" });
});

test("pods that selectors distinguish have texts of their own", () => {
  expect(labelsText({ app: "a" })).not.toBe(labelsText({ app: "b" }));
});
