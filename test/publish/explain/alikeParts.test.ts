import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { alikeParts } from "../../../exporter/publish/explain/alikeParts.ts";
import type { ExplainedPart } from "../../../exporter/publish/explain/schema.ts";

const part: ExplainedPart = {
  node: "gpu-1",
  uuid: "GPU-0",
  gpuInstance: null,
  profile: null,
  model: "H100",
  gpus: 1,
  states: { active: 0.9, underutilized: 0.1 },
  holder: { namespace: "ml", pod: "train-0", team: "vision" },
  knownFrom: "the row of DCGM",
  estimated: false,
  activity: 0.9,
  signal: "sm_active",
  why: "90 % active",
};
const other = (of: Partial<ExplainedPart>): ExplainedPart => ({ ...part, ...of });

describe("parts that are alike", () => {
  test("share a line that says how many of the node's they are, with their sum and the range of their percentages", () => {
    const [first, second, ...none] = alikeParts([
      part,
      other({ uuid: "GPU-1", states: { active: 0.7, underutilized: 0.3 }, why: "70 % active" }),
      other({ uuid: "GPU-2", holder: null, states: { free: 1 }, why: "nobody holds it" }),
    ]);
    expect(none).toEqual([]);
    expect(first).toMatchObject({ count: 2, device: "2 of 3 GPUs, the same" });
    expect(first?.part.why).toBe("70 to 90 % active");
    expect(first?.part.states).toEqual({ active: 1.6, underutilized: 0.4 });
    expect(second).toMatchObject({ count: 1, device: "GPU-2" });
  });

  test("are never those of two nodes, holders, profiles or states", () => {
    const parts = [
      part,
      other({ node: "gpu-2" }),
      other({ holder: { namespace: "ml", pod: "train-1", team: "vision" } }),
      other({ profile: "1g.10gb", gpuInstance: "3", gpus: 1 / 7 }),
      other({ states: { idle: 1 } }),
      other({ estimated: true }),
      other({ knownFrom: "its request" }),
    ];
    expect(alikeParts(parts).map(({ count }) => count)).toEqual(parts.map(() => 1));
    expect(alikeParts(parts).map(({ device }) => device)).toContain("GPU-0/3 1g.10gb");
  });

  test("lose and make no GPU, and count each part once, whatever the parts are", () => {
    const anyPart = fc
      .record({
        node: fc.constantFrom("a", "b"),
        uuid: fc.constantFrom("GPU-0", "GPU-1", null),
        gpus: fc.double({ min: 0, max: 8, noNaN: true }),
        holder: fc.constantFrom(null, part.holder),
        why: fc.constantFrom("5 % active", "7 % active, 3 % of memory", "100 %", ""),
      })
      .map((fields) => other({ ...fields, states: { active: fields.gpus } }));
    fc.assert(
      fc.property(fc.array(anyPart, { maxLength: 30 }), (parts) => {
        const groups = alikeParts(parts);
        const sum = (all: readonly ExplainedPart[]) => all.reduce((total, { gpus }) => total + gpus, 0);
        expect(groups.reduce((total, { count }) => total + count, 0)).toBe(parts.length);
        expect(sum(groups.map((group) => group.part))).toBeCloseTo(sum(parts), 9);
        for (const group of groups) expect(group.part.states.active).toBeCloseTo(group.part.gpus, 9);
      }),
    );
  });
});
