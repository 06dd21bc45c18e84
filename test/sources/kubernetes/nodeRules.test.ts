import { describe, expect, it } from "vitest";
import type { Pod } from "../../../exporter/model/pod.ts";
import { decodePod } from "../../../exporter/sources/kubernetes/decodePod.ts";

const one = { "nvidia.com/gpu": "1" };

function podWith(spec: object, limits: object = one): Pod | null {
  const metadata = { name: "p", namespace: "ns", uid: "u" };
  const result = decodePod({ metadata, spec: { containers: [{ name: "c", resources: { limits } }], ...spec } });
  if (!result.ok) throw new Error(result.problem.message);
  return result.value.gpuPod;
}

const required = (...nodeSelectorTerms: readonly object[]): object => ({
  affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } },
});
const inZone = (...values: readonly string[]): object => ({
  matchExpressions: [{ key: "zone", operator: "In", values }],
});
const byName = { matchFields: [{ key: "metadata.name", operator: "In", values: ["n1"] }] };

describe("required node affinity of a pod", () => {
  it("has a list of requirements for each term", () => {
    const present = { matchExpressions: [{ key: "gpu", operator: "Exists" }] };
    expect(podWith(required(inZone("a", "b"), present))?.nodeAffinity).toEqual([
      [{ key: "zone", operator: "In", values: ["a", "b"] }],
      [{ key: "gpu", operator: "Exists", values: [] }],
    ]);
  });

  it("is empty where there is none, and where there are only preferences", () => {
    const preferred = [{ weight: 1, preference: inZone("a") }];
    expect(podWith({})?.nodeAffinity).toEqual([]);
    expect(
      podWith({ affinity: { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: preferred } } })
        ?.nodeAffinity,
    ).toEqual([]);
  });

  it("leaves out requirements on fields, and where a term has no others requires nothing", () => {
    expect(podWith(required({ ...inZone("a"), ...byName }))?.nodeAffinity).toEqual([
      [{ key: "zone", operator: "In", values: ["a"] }],
    ]);
    expect(podWith(required(inZone("a"), byName))?.nodeAffinity).toEqual([]);
  });

  it("with an empty term asks for what no node has", () => {
    expect(podWith(required({}))?.nodeAffinity).toEqual([[{ key: "", operator: "In", values: [] }]]);
  });
});

describe("tolerations of a pod", () => {
  it("are Equal where nothing is said, and of every effect where none is named", () => {
    const tolerations = [
      { key: "team", value: "a" },
      { operator: "Exists", effect: "NoSchedule" },
    ];
    expect(podWith({ tolerations })?.tolerations).toEqual([
      { key: "team", operator: "Equal", value: "a", effect: null },
      { key: "", operator: "Exists", value: "", effect: "NoSchedule" },
    ]);
  });

  it("are none where there are none", () => {
    expect(podWith({})?.tolerations).toEqual([]);
  });

  it("with an operator that is not known are left out", () => {
    expect(podWith({ tolerations: [{ key: "a", operator: "Gt", value: "3" }] })?.tolerations).toEqual([]);
  });

  it("are not more than any real pod has", () => {
    const many = Array.from({ length: 1000 }, (_, index) => ({ key: `k${index}`, operator: "Exists" }));
    expect(podWith({ tolerations: many })?.tolerations.length).toBe(256);
  });
});

describe("pods that ask alike", () => {
  it("share one object", () => {
    const spec = { ...required(inZone("a")), tolerations: [{ key: "team", value: "a" }] };
    const [first, second] = [podWith(structuredClone(spec)), podWith(structuredClone(spec))];
    expect(first?.nodeAffinity).toBe(second?.nodeAffinity);
    expect(first?.tolerations).toBe(second?.tolerations);
    expect(podWith({ ...spec, tolerations: [] })?.tolerations).not.toBe(first?.tolerations);
  });

  it("without GPUs have no record at all", () => {
    expect(podWith(required(inZone("a")), { cpu: "1" })).toBeNull();
  });
});
