import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ClusterNode } from "../../exporter/model/node.ts";
import type { Pod } from "../../exporter/model/pod.ts";
import { gpuPod, instance, node, page, reading } from "./clusterBuilder.ts";
import { analysed, nodeOf, snapshotOf } from "./outcomes.ts";

const runs = { numRuns: 400, seed: 20_261_122 };

/** What NVIDIA's MIG user guide publishes of a GPU: slices, and for each profile compute slices, memory slices and where it may lie. */
interface Guide {
  readonly product: string;
  readonly compute: number;
  readonly memory: number;
  readonly profiles: Readonly<Record<string, readonly [compute: number, memory: number, starts: readonly number[]]>>;
}

const seven = (names: readonly string[]): Guide["profiles"] => {
  const [one = "", double = "", two = "", three = "", four = "", all = ""] = names;
  return {
    [one]: [1, 1, [0, 1, 2, 3, 4, 5, 6]],
    [double]: [1, 2, [0, 2, 4, 6]],
    [two]: [2, 2, [0, 2, 4]],
    [three]: [3, 4, [0, 4]],
    [four]: [4, 4, [0]],
    [all]: [7, 8, [0]],
  };
};

const guides: readonly Guide[] = [
  ["NVIDIA-A100-SXM4-40GB", ["1g.5gb", "1g.10gb", "2g.10gb", "3g.20gb", "4g.20gb", "7g.40gb"]],
  ["NVIDIA-A100-SXM4-80GB", ["1g.10gb", "1g.20gb", "2g.20gb", "3g.40gb", "4g.40gb", "7g.80gb"]],
  ["NVIDIA-H100-80GB-HBM3", ["1g.10gb", "1g.20gb", "2g.20gb", "3g.40gb", "4g.40gb", "7g.80gb"]],
  ["NVIDIA-H100-NVL", ["1g.12gb", "1g.24gb", "2g.24gb", "3g.47gb", "4g.47gb", "7g.94gb"]],
  ["NVIDIA-H200", ["1g.18gb", "1g.35gb", "2g.35gb", "3g.71gb", "4g.71gb", "7g.141gb"]],
  ["NVIDIA-B200", ["1g.23gb", "1g.45gb", "2g.45gb", "3g.90gb", "4g.90gb", "7g.180gb"]],
].map(([product, names]) => ({ product: String(product), compute: 7, memory: 8, profiles: seven([...(names ?? [])]) }));

const fourSlices = (one: string, two: string, all: string): Guide["profiles"] => ({
  [one]: [1, 1, [0, 1, 2, 3]],
  [two]: [2, 2, [0, 2]],
  [all]: [4, 4, [0]],
});
const all: readonly Guide[] = [
  ...guides,
  { product: "NVIDIA-A30", compute: 4, memory: 4, profiles: fourSlices("1g.6gb", "2g.12gb", "4g.24gb") },
  {
    product: "NVIDIA-RTX-PRO-6000-Blackwell-Server-Edition",
    compute: 4,
    memory: 4,
    profiles: fourSlices("1g.24gb", "2g.48gb", "4g.96gb"),
  },
];

/** Cuts a GPU: of the wished profiles those that still have a legal place, in their order. */
function layoutOf(guide: Guide, wishes: readonly number[]): readonly string[] {
  const names = Object.keys(guide.profiles);
  const taken = new Set<number>();
  let compute = 0;
  const layout: string[] = [];
  for (const wish of wishes) {
    const name = names[wish % names.length] ?? "";
    const [slices, size, starts] = guide.profiles[name] ?? [0, 0, []];
    const lies = (start: number): number[] => Array.from({ length: size }, (_, i) => start + i);
    const start = starts.find((at) => lies(at).every((slice) => !taken.has(slice)));
    if (start === undefined || compute + slices > guide.compute) continue;
    for (const slice of lies(start)) taken.add(slice);
    compute += slices;
    layout.push(name);
  }
  return layout;
}

/** What each instance is of its GPU, by the rule of docs/decisions/0003 done by hand: a full GPU is wholly given out. */
function partsOf(
  guide: Guide,
  layout: readonly string[],
): { readonly parts: readonly number[]; readonly rest: number } {
  const sizes = layout.map((name) => guide.profiles[name] ?? ([0, 0, []] as const));
  const raw = sizes.map(([compute, memory]) => Math.max(compute / guide.compute, memory / guide.memory));
  const sum = raw.reduce((total, part) => total + part, 0);
  const compute = sizes.reduce((total, [slices]) => total + slices, 0);
  const memory = sizes.reduce((total, [, slices]) => total + slices, 0);
  const isFull = compute + 1 > guide.compute || memory + 1 > guide.memory || sum > 1;
  return { parts: raw.map((part) => (isFull ? part / sum : part)), rest: isFull ? 0 : 1 - sum };
}

const mixedNode = fc.record({
  guide: fc.constantFrom(...all),
  physicalGpus: fc.array(fc.array(fc.nat(5), { minLength: 1, maxLength: 9 }), { minLength: 1, maxLength: 8 }),
  whole: fc.nat(4),
  hasGfd: fc.boolean(),
  allocated: fc.array(fc.boolean(), { minLength: 60, maxLength: 60 }),
});

function mixed(choice: typeof mixedNode extends fc.Arbitrary<infer T> ? T : never) {
  const { guide, whole, hasGfd, allocated } = choice;
  const layouts = choice.physicalGpus.map((wishes) => layoutOf(guide, wishes));
  const capacity: Record<string, number> = whole > 0 ? { "nvidia.com/gpu": whole } : {};
  for (const name of layouts.flat()) capacity[`nvidia.com/mig-${name}`] = (capacity[`nvidia.com/mig-${name}`] ?? 0) + 1;
  const labels = {
    "nvidia.com/gpu.product": guide.product,
    ...(hasGfd ? { "nvidia.com/gpu.count": String(layouts.length + whole), "nvidia.com/gpu.replicas": "0" } : {}),
  };
  const pods: Pod[] = [];
  let next = 0;
  const rows = layouts.flatMap((layout, physicalGpu) =>
    layout.map((name, i) => {
      const isAllocated = allocated[next++] === true;
      if (isAllocated) pods.push(gpuPod(`p${next}`, "n", 1, {}, `nvidia.com/mig-${name}`));
      return instance(`GPU-${physicalGpu}`, String(i), name, 0.5, ...(isAllocated ? [`p${next}`] : []));
    }),
  );
  const others = Array.from({ length: whole }, (_, i) => reading(`GPU-whole-${i}`, 0));
  return { object: node("n", { capacity, labels }), layouts, rows: [...rows, ...others], pods, isAllocated: allocated };
}

const sum = (amounts: readonly number[]): number => amounts.reduce((total, amount) => total + amount, 0);

describe("a node whose GPUs MIG has cut in any legal way", () => {
  it("has the generator's GPUs by label, and never more than them without", () => {
    fc.assert(
      fc.property(mixedNode, (choice) => {
        const { object, layouts } = mixed(choice);
        const truth = layouts.length + choice.whole;
        const counted = nodeOf(snapshotOf({ nodes: [object] }), "n").physicalGpus ?? 0;
        if (choice.hasGfd) expect(counted).toBe(truth);
        else expect(counted).toBeLessThanOrEqual(truth);
      }),
      runs,
    );
  });

  it("has all of them without a label, too, where each GPU is cut into as many of one profile as it can have", () => {
    for (const guide of all)
      for (const name of Object.keys(guide.profiles))
        for (const physicalGpus of [1, 3, 8]) {
          const each = layoutOf(
            guide,
            Array.from({ length: 8 }, () => Object.keys(guide.profiles).indexOf(name)),
          );
          const object = node("n", {
            capacity: { [`nvidia.com/mig-${name}`]: each.length * physicalGpus },
            labels: { "nvidia.com/gpu.product": guide.product },
          });
          expect(nodeOf(snapshotOf({ nodes: [object] }), "n").physicalGpus, `${guide.product} ${name}`).toBe(
            physicalGpus,
          );
        }
  });

  it("gives each pod the part that its GPU's layout makes it, and its states add up to its GPUs", () => {
    fc.assert(
      fc.property(mixedNode, (choice) => {
        const { object, layouts, rows, pods } = mixed({ ...choice, hasGfd: true });
        const snapshot = snapshotOf({ nodes: [object], pods, telemetry: [page("n", rows)] });
        const parts = layouts.map((layout) => partsOf(choice.guide, layout));
        let next = 0;
        const expected = sum(
          parts.flatMap((physicalGpu) => physicalGpu.parts).filter(() => choice.allocated[next++] === true),
        );
        const { accountingEntries } = analysed(snapshot);
        const allocated = sum(accountingEntries.list.filter(({ pod }) => pod !== null).map(({ gpus }) => gpus));
        expect(allocated).toBeCloseTo(expected, 9);
        expect(sum(accountingEntries.list.map(({ gpus }) => gpus))).toBeCloseTo(layouts.length + choice.whole, 9);
        expect(accountingEntries.list.filter(({ state }) => state === "unavailable")).toEqual([]);
        const rest = sum(snapshot.unpartitioned.map(({ weight }) => weight));
        expect(rest).toBeCloseTo(sum(parts.map((physicalGpu) => physicalGpu.rest)), 9);
        expect(nodeOf(snapshot, "n").allocatedByPods).toBeCloseTo(expected, 9);
      }),
      runs,
    );
  });
});

describe("witnesses of one node's GPUs", () => {
  const maybe = (most: number) => fc.option(fc.integer({ min: 1, max: most }), { nil: null });
  const witnesses = fc
    .record({ gfd: maybe(8), units: maybe(16), sold: maybe(8), shown: maybe(16) })
    .filter(({ gfd, units, sold }) => gfd !== null || units !== null || sold !== null);

  it("that differ are never silent, and those that agree are never a line", () => {
    fc.assert(
      fc.property(witnesses, ({ gfd, units, sold, shown }) => {
        const labels: Record<string, string> = { "nvidia.com/gpu.present": "true" };
        if (gfd !== null)
          Object.assign(labels, { "nvidia.com/gpu.count": String(gfd), "nvidia.com/gpu.replicas": "1" });
        if (sold !== null) labels["karpenter.k8s.aws/instance-gpu-count"] = String(sold);
        const object: ClusterNode = node("n", { labels, capacity: units === null ? {} : { "nvidia.com/gpu": units } });
        const rows = Array.from({ length: shown ?? 0 }, (_, i) => reading(`GPU-${i}`, 0));
        const snapshot = snapshotOf({ nodes: [object], telemetry: shown === null ? [] : [page("n", rows)] });
        const said = snapshot.problems.filter(({ code }) => code === "gpu-count-conflict");
        const numbers = new Set([gfd, units, sold, shown].filter((number) => number !== null));
        expect(said.length > 0).toBe(numbers.size > 1);
        // Every number that is not the one taken is in some line.
        const taken = nodeOf(snapshot, "n").physicalGpus;
        for (const number of numbers)
          if (number !== taken)
            expect(said.map(({ message }) => message).join("\n")).toMatch(new RegExp(`\\b${number}\\b`));
        expect([...numbers]).toContain(taken);
      }),
      runs,
    );
  });
});
