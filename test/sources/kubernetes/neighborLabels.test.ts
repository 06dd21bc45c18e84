import { expect, test } from "vitest";
import { labelsOf, labelsText } from "../../../exporter/sources/kubernetes/keptLabels.ts";

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
