import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  caseOf,
  type NaiveAmounts,
  type NaiveNode,
  type NaiveTask,
  naiveCases,
  naiveFragmentation,
  noAmounts,
  unusable,
} from "./naiveFragmentation.ts";
import { amountsOf, judged } from "./placedNodes.ts";

const gib = 2 ** 30;

/** 4 GPUs, one of them free to 20 % and one to 50 %: 2.7 GPUs; 16 cores, 64 GiB. */
const used: NaiveNode = { cpu: 16_000, memory: 64 * gib, free: [0.2, 1, 1, 0.5], model: "T4" };

/** 8 free GPUs, 64 cores, 512 GiB. */
const empty: NaiveNode = { cpu: 64_000, memory: 512 * gib, free: [1, 1, 1, 1, 1, 1, 1, 1], model: "A100" };

/** One core, 1 GiB and one whole GPU of any model, where nothing else is said. */
function task(parts: Partial<NaiveTask> = {}): NaiveTask {
  return { cpu: 1000, memory: gib, gpus: 1, share: 1, models: [], popularity: 1, ...parts };
}

/** Both answers have these amounts; all others are 0. */
function expectAmounts(
  nodes: readonly NaiveNode[],
  tasks: readonly NaiveTask[],
  expected: Partial<NaiveAmounts>,
  digits = 9,
): void {
  const exact = { ...noAmounts(), ...expected };
  const naive = naiveFragmentation(nodes, tasks);
  const found = amountsOf(judged(nodes, tasks).pools);
  for (const one of naiveCases) {
    expect(naive[one], `${one}, naive`).toBeCloseTo(exact[one], digits);
    expect(found[one], one).toBeCloseTo(exact[one], digits);
  }
}

describe("one task on a node with 0.2 + 1 + 1 + 0.5 = 2.7 GPUs", () => {
  test.each<[string, NaiveTask, Partial<NaiveAmounts>]>([
    ["without GPUs: all of it, whether CPU is enough", task({ gpus: 0, share: 0 }), { no_gpu_task: 2.7 }],
    ["or not", task({ gpus: 0, share: 0, cpu: 99_000 }), { no_gpu_task: 2.7 }],
    ["for another model: all of it", task({ models: ["A100", "H100"] }), { no_access: 2.7 }],
    ["for another model goes before all that is missing", task({ models: ["A100"], cpu: 99_000 }), { no_access: 2.7 }],
    [
      "for one whole GPU of this model: what is left of the partly held, 0.2 + 0.5",
      task({ models: ["A100", "T4"] }),
      { satisfied: 2, lack_gpu: 0.7 },
    ],
    ["for two whole GPUs: 0.2 + 0.5 as well", task({ gpus: 2 }), { satisfied: 2, lack_gpu: 0.7 }],
    ["for half a GPU: the GPU with 0.2", task({ share: 0.5 }), { satisfied: 2.5, lack_gpu: 0.2 }],
    ["for a fifth of a GPU, which is exactly there: nothing", task({ share: 0.2 }), { satisfied: 2.7 }],
    ["for four whole GPUs: all of it", task({ gpus: 4 }), { lack_gpu: 2.7 }],
    ["with exactly the CPU and memory: fits", task({ cpu: 16_000, memory: 64 * gib }), { satisfied: 2, lack_gpu: 0.7 }],
    ["with one milli of CPU too much: all of it", task({ cpu: 16_001 }), { lack_cpu: 2.7 }],
    ["with too much memory: all of it", task({ memory: 65 * gib }), { lack_memory: 2.7 }],
    ["with too much of both", task({ cpu: 17_000, memory: 65 * gib }), { lack_cpu_and_memory: 2.7 }],
    ["with too many GPUs and too much CPU", task({ gpus: 4, cpu: 17_000 }), { lack_both: 2.7 }],
    ["with too many GPUs and too much memory", task({ gpus: 4, memory: 65 * gib }), { lack_both: 2.7 }],
  ])("%s", (_what, one, expected) => {
    expectAmounts([used], [one], expected);
  });
});

describe("several tasks and nodes, added up by hand", () => {
  test("60 % one GPU, 30 % a quarter of one, 10 % eight GPUs with 60 cores", () => {
    const tasks = [
      task({ popularity: 0.6 }),
      task({ share: 0.25, popularity: 0.3 }),
      task({ gpus: 8, cpu: 60_000, popularity: 0.1 }),
    ];
    // Used node, 2.7: one GPU leaves 0.2 + 0.5; a quarter leaves 0.2; eight GPUs lack GPUs and CPU. The empty one serves all.
    expectAmounts([used, empty], tasks, {
      lack_gpu: 0.6 * 0.7 + 0.3 * 0.2,
      lack_both: 0.1 * 2.7,
      satisfied: 0.6 * (2 + 8) + 0.3 * (2.5 + 8) + 0.1 * 8,
    });
  });

  test("a node without CPU: every GPU is of no use to anyone", () => {
    const full: NaiveNode = { ...empty, cpu: 500 };
    expectAmounts([full], [task({ popularity: 0.75 }), task({ gpus: 4, popularity: 0.25 })], { lack_cpu: 8 });
  });

  test("a node without memory, and one for another model", () => {
    const full: NaiveNode = { ...empty, memory: gib / 2 };
    const tasks = [task({ popularity: 0.5 }), task({ models: ["T4"], popularity: 0.5 })];
    // A100: half of the tasks lack memory for 8, half may not go there. T4: both fit, and leave 0.7.
    expectAmounts([full, used], tasks, { lack_memory: 4, no_access: 4, lack_gpu: 0.7, satisfied: 2 });
  });

  test("a full cluster has no ratio", () => {
    const { pools } = judged([{ ...used, free: [0, 0] }], [task()]);
    expect(pools).toMatchObject([{ expected: { gpus: 0, ratio: null } }]);
  });

  test("the ratio is of what is free", () => {
    const { pools } = judged([used], [task()]);
    expect(pools[0]?.expected.ratio).toBeCloseTo(0.7 / 2.7, 9);
  });
});

/**
 * The numbers of `pkg/utils/frag_test.go` in hkust-adsl/kubernetes-scheduler-simulator (Apache-2.0), in thousandths of a
 * GPU. Memory is not part of that measure: all tasks ask for none here. Its popularities need not add up to 1: each answer is
 * the sum over the tasks that are listed, where the exporter's popularities do.
 */
describe("the numbers of the reference implementation", () => {
  /** CPU milli, GPU milli, GPUs, model, percent. */
  type Row = readonly [number, number, number, string, number];
  const tasksOf = (rows: readonly Row[]): readonly NaiveTask[] =>
    rows.map(([cpu, milli, gpus, model, percent]) => ({
      cpu,
      memory: 0,
      gpus,
      share: milli / 1000,
      models: model === "" ? [] : [model],
      popularity: percent / 100,
    }));
  const typical: readonly Row[] = [
    [6000, 465, 1, "", 9.33],
    [8000, 440, 1, "2080", 9.15],
    [8000, 475, 1, "T4", 8.76],
    [8000, 440, 1, "P100", 8.72],
    [2000, 465, 1, "", 8.68],
    [12_000, 900, 1, "", 8.65],
    [4000, 900, 1, "", 8.43],
    [16_000, 678, 1, "T4", 8.36],
    [8000, 500, 1, "", 8.29],
    [6000, 511, 1, "", 8.11],
    [14_000, 1000, 2, "2080", 0.54],
    [4000, 1000, 1, "2080", 0.43],
    [32_000, 1000, 2, "T4", 0.43],
    [16_000, 1000, 1, "V100M16", 0.4],
    [64_000, 1000, 2, "", 0.4],
    [10_000, 1000, 2, "", 0.4],
    [11_400, 1000, 1, "T4", 0.36],
    [16_000, 1000, 1, "T4", 0.36],
    [4000, 1000, 2, "", 0.36],
    [14_000, 1000, 2, "V100M16", 0.36],
    [8000, 1000, 4, "", 0.36],
    [16_000, 1000, 2, "", 0.32],
    [2000, 1000, 1, "T4", 0.32],
    [6000, 1000, 1, "", 0.32],
    [4000, 1000, 1, "", 0.32],
    [5000, 1000, 1, "", 0.32],
    [32_000, 1000, 4, "V100M16", 0.32],
    [32_000, 1000, 2, "", 0.32],
    [24_000, 1000, 8, "2080", 0.32],
    [40_000, 1000, 4, "", 0.29],
    [32_000, 1000, 8, "", 0.29],
    [32_000, 1000, 1, "T4", 0.29],
    [16_000, 1000, 1, "", 0.25],
    [7000, 1000, 1, "V100M16", 0.25],
    [24_000, 1000, 1, "T4", 0.25],
  ];
  const withoutModels = (rows: readonly (readonly [number, number, number, number])[]): readonly Row[] =>
    rows.map(([cpu, milli, gpus, percent]) => [cpu, milli, gpus, "", percent]);
  const withCpuPods = withoutModels([
    [15_700, 1000, 1, 28.69],
    [11_900, 1000, 1, 18.93],
    [11_400, 1000, 1, 12.27],
    [1000, 0, 0, 7.36],
    [18_710, 1000, 1, 4.85],
    [8200, 1000, 1, 3.79],
    [16_400, 1000, 1, 3.31],
    [9810, 1000, 1, 1.97],
    [15_200, 1000, 1, 1.87],
    [11_200, 1000, 1, 1.81],
    [14_200, 1000, 1, 1.76],
    [12_000, 0, 0, 1.65],
    [14_900, 1000, 1, 1.39],
    [60_200, 1000, 4, 1.23],
    [64_200, 1000, 8, 1.07],
    [32_200, 1000, 4, 1.01],
    [17_400, 1000, 2, 0.91],
    [30_200, 1000, 2, 0.69],
    [16_000, 1000, 1, 0.64],
    [15_000, 1000, 1, 0.59],
    [64_000, 1000, 8, 0.53],
    [15_000, 0, 0, 0.53],
    [11_910, 1000, 1, 0.53],
    [120_200, 1000, 8, 0.48],
    [11_300, 1000, 1, 0.37],
    [30_000, 1000, 2, 0.32],
    [9800, 1000, 1, 0.32],
    [8000, 1000, 1, 0.32],
    [2000, 1000, 1, 0.27],
    [2000, 80, 1, 0.27],
    [1000, 1000, 1, 0.27],
  ]);
  const node = (cpu: number, milli: readonly number[], model: string): NaiveNode => ({
    cpu,
    memory: gib,
    free: milli.map((one) => one / 1000),
    model,
  });
  const eight = [1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000];
  const half = [1000, 1000, 1000, 1000, 0, 0, 0, 0];

  test.each<[string, NaiveNode, readonly Row[], number]>([
    ["4x1080_used", node(1000, [200, 1000, 1000, 500], "1080"), typical, 2566.62],
    ["4x1080_full", node(1000, [1000, 1000, 1000, 1000], "1080"), typical, 3802.4],
    ["8x1080_full", node(1000, eight, "1080"), typical, 7604.8],
    ["4x1080_used_lack_CPU", node(1000, [200, 1000, 1000, 500], "1080"), typical.slice(0, 1), 251.91],
    ["8xP100_empty", node(64_000, eight, "P100"), withCpuPods, 887.2],
    ["8xP100_halved", node(32_000, half, "P100"), withCpuPods, 554.4],
    ["8xP100_nocpu", node(0, half, "P100"), withCpuPods, 4000],
  ])("%s", (_name, one, rows, milli) => {
    const tasks = tasksOf(rows);
    const listed = tasks.reduce((sum, { popularity }) => sum + popularity, 0);
    expect(Math.abs(1000 * unusable(naiveFragmentation([one], tasks)) - milli)).toBeLessThan(0.01);
    const found = amountsOf(judged([one], tasks).pools);
    expect(Math.abs(1000 * listed * unusable(found) - milli)).toBeLessThan(0.01);
  });

  test("a task that lacks CPU alone is in the case of CPU", () => {
    const one = node(1000, [200, 1000, 1000, 500], "1080");
    expect(tasksOf(typical.slice(0, 1)).map((first) => caseOf(one, first))).toEqual(["lack_cpu"]);
  });
});

describe("generated clusters", () => {
  const cpu = fc.nat({ max: 12 }).map((n) => 4000 * n);
  const memory = fc.nat({ max: 8 }).map((n) => 16 * gib * n);
  const model = fc.constantFrom("T4", "A100", "H100");
  const anyNode: fc.Arbitrary<NaiveNode> = fc.record({
    cpu,
    memory,
    free: fc.array(fc.constantFrom(1, 1, 1, 0, 0.5, 0.25, 0.75, 0.125), { minLength: 1, maxLength: 8 }),
    model,
  });
  const gpus = fc.constantFrom(
    { gpus: 0, share: 0 },
    { gpus: 1, share: 0.125 },
    { gpus: 1, share: 0.5 },
    { gpus: 1, share: 0.75 },
    { gpus: 1, share: 1 },
    { gpus: 2, share: 1 },
    { gpus: 4, share: 1 },
    { gpus: 8, share: 1 },
  );
  const anyTask: fc.Arbitrary<NaiveTask> = fc
    .record({
      cpu,
      memory,
      size: gpus,
      models: fc.uniqueArray(model, { maxLength: 2 }),
      popularity: fc.integer({ min: 1, max: 40 }),
    })
    .map(({ size, ...rest }) => ({ ...rest, ...size }));

  test("have the expected fragmentation of the naive sums, in all and by cause", () => {
    fc.assert(
      fc.property(
        fc.array(anyNode, { minLength: 1, maxLength: 12 }),
        fc.array(anyTask, { minLength: 1, maxLength: 12 }),
        (nodes, weighted) => {
          const total = weighted.reduce((sum, { popularity }) => sum + popularity, 0);
          const tasks = weighted.map((one) => ({ ...one, popularity: one.popularity / total }));
          const { pools } = judged(nodes, weighted);
          for (const { pool, expected } of pools) {
            const own = nodes.filter((one) => one.model === pool);
            const naive = naiveFragmentation(own, tasks);
            const found = amountsOf(pools.filter((one) => one.pool === pool));
            for (const one of naiveCases) expect(Math.abs(found[one] - naive[one]), one).toBeLessThan(1e-9);
            expect(Math.abs(expected.gpus - unusable(naive))).toBeLessThan(1e-9);
          }
          expect(new Set(pools.map(({ pool }) => pool))).toEqual(new Set(nodes.map((one) => one.model)));
        },
      ),
      { numRuns: 600, seed: 20_261_203 },
    );
  });
});
