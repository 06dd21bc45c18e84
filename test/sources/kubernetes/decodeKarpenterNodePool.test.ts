import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { decodeKarpenterNodePool } from "../../../exporter/sources/kubernetes/decodeKarpenterNodePool.ts";
import { recordOf } from "./queues/capturedList.ts";

/** The record of a NodePool with this `spec`, as YAML. */
const decoded = (spec: string, version = "v1") =>
  recordOf(
    decodeKarpenterNodePool({
      apiVersion: `karpenter.sh/${version}`,
      kind: "NodePool",
      metadata: { name: "gpu" },
      spec: parse(spec),
    }),
  );

/** As Karpenter's own documents have it, with every default that the API fills in (CRD of v1.15). */
const gpuInference = `
disruption:
  budgets: [{ nodes: 10% }]
  consolidationPolicy: WhenEmptyOrUnderutilized
  consolidateAfter: 10m
limits: { cpu: 128, memory: 512Gi, nvidia.com/gpu: 8 }
template:
  spec:
    expireAfter: 720h
    nodeClassRef: { group: karpenter.k8s.aws, kind: EC2NodeClass, name: gpu-nodes }
    requirements:
      - { key: node.kubernetes.io/instance-type, operator: In, values: [p5.48xlarge, g6.xlarge] }
      - { key: karpenter.sh/capacity-type, operator: In, values: [on-demand, spot], minValues: 1 }
      - { key: karpenter.k8s.aws/instance-generation, operator: Gt, values: ["2"] }
`;

describe("a NodePool of Karpenter", () => {
  it("has limits, consolidation settings and capacity types", () => {
    expect(decoded(gpuInference)).toEqual({
      name: "gpu",
      limits: { cpu: 128, memory: 512 * 2 ** 30, "nvidia.com/gpu": 8 },
      consolidationPolicy: "WhenEmptyOrUnderutilized",
      consolidateAfterSeconds: 600,
      budgets: [{ nodes: "10%", reasons: [], schedule: "" }],
      capacityTypes: ["on-demand", "spot"],
      replicas: null,
      revision: null,
    });
  });

  it("of v1beta1 consolidates at once where it does not say after how long", () => {
    const underutilized = decoded(
      `
disruption: { consolidationPolicy: WhenUnderutilized, expireAfter: 720h }
limits: { cpu: 100 }
template: { spec: { nodeClassRef: { name: default }, requirements: [] } }
`,
      "v1beta1",
    );
    expect(underutilized).toMatchObject({ consolidationPolicy: "WhenUnderutilized", consolidateAfterSeconds: 0 });
    const empty = decoded("disruption: { consolidationPolicy: WhenEmpty, consolidateAfter: 1h30m }", "v1beta1");
    expect(empty).toMatchObject({ consolidationPolicy: "WhenEmpty", consolidateAfterSeconds: 5400 });
  });

  it("with Never, and one without disruption settings, is never consolidated as far as is known", () => {
    const never = decoded("disruption: { consolidationPolicy: WhenEmpty, consolidateAfter: Never }");
    expect(never).toMatchObject({ consolidationPolicy: "WhenEmpty", consolidateAfterSeconds: null });
    expect(decoded("template: {}")).toMatchObject({ consolidationPolicy: "", consolidateAfterSeconds: null });
  });

  it("has disruption budgets, some of which hold at times or for some reasons", () => {
    const pool = decoded(`
disruption:
  budgets:
    - nodes: "20%"
      reasons: [Empty, Drifted]
    - nodes: "0"
      schedule: "@daily"
      duration: 10m
      reasons: [Underutilized]
    - { duration: 1h, schedule: "0 9 * * mon-fri" }
`);
    expect(pool.budgets).toEqual([
      { nodes: "20%", reasons: ["Empty", "Drifted"], schedule: "" },
      { nodes: "0", reasons: ["Underutilized"], schedule: "@daily" },
      { nodes: "10%", reasons: [], schedule: "0 9 * * mon-fri" },
    ]);
    expect(decoded("disruption: { consolidateAfter: 1m }").budgets).toEqual([]);
  });

  it("with a fixed number of nodes has it, and its limit on nodes", () => {
    expect(decoded("{ replicas: 3, limits: { nodes: 5 } }")).toMatchObject({ replicas: 3, limits: { nodes: 5 } });
  });

  const requirement = (operator: string, values: readonly string[]) =>
    `template: { spec: { requirements: [{ key: karpenter.sh/capacity-type, operator: ${operator}, values: [${values.join(", ")}] }] } }`;

  it.each([
    ["In", ["reserved"], ["reserved"]],
    ["In", ["spot", "reserved", "on-demand"], null],
    ["In", ["capacity-block"], []],
    ["NotIn", ["spot", "reserved", "on-demand"], []],
    ["NotIn", ["spot"], ["on-demand", "reserved"]],
    ["Exists", [], null],
  ])("with a capacity type %s %j may have %j", (operator, values, allowed) => {
    expect(decoded(requirement(operator, values)).capacityTypes).toEqual(allowed);
  });

  it("keeps only so much of what no real one has", () => {
    const many = Array.from({ length: 1000 }, (_, i) => `acme.com/r${i}: 1`).join(", ");
    expect(Object.keys(decoded(`limits: { ${many} }`).limits).length).toBe(256);
    expect(decoded(`disruption: { consolidationPolicy: ${"x".repeat(2000)} }`).consolidationPolicy.length).toBe(253);
    const names: unknown = JSON.parse('{"__proto__": "1", "constructor": "2"}');
    const decodedNames = recordOf(
      decodeKarpenterNodePool({ metadata: { name: "gpu" }, spec: { limits: names } }),
    ).limits;
    expect(Object.keys(decodedNames)).toEqual(["constructor"]);
    expect("toString" in decodedNames).toBe(false);
  });

  it.each([
    ["limits", { limits: { "nvidia.com/gpu": "eight" } }, "nvidia.com/gpu"],
    ["a duration", { disruption: { consolidationPolicy: "WhenEmpty", consolidateAfter: "soon" } }, "consolidateAfter"],
    ["a list", { template: { spec: { requirements: "none" } } }, "requirements"],
  ])("with something else than %s is left out, and the problem names the field", (_what, spec, field) => {
    const answer = decodeKarpenterNodePool({ metadata: { name: "gpu" }, spec });
    expect(answer.ok ? "" : answer.problem.message).toContain(field);
  });
});
