import { afterAll, beforeAll, expect, it } from "vitest";
import type { Fault } from "../../simulator/faults.ts";
import { createRandomStream } from "../../simulator/random.ts";
import { latest, sum } from "../e2e/accounting.ts";
import { type WatchedCluster, watchDemoCluster } from "../e2e/faults/watchedCluster.ts";

const node = "h100-01";
const target = { node } as const;
const relist = [{ kind: "api-gone" }, { kind: "api-watch-cut" }] as const satisfies readonly Fault[];

/** Some faults of one family; each is on its own, or with those that bring it out. */
const families: readonly (readonly (readonly Fault[])[])[] = [
  [
    [{ kind: "exporter-error", target }],
    [{ kind: "exporter-empty", target: "all" }],
    [{ kind: "exporter-garbage", target }],
    [{ kind: "exporter-hostile", target, content: "foreign-devices" }],
    [{ kind: "exporter-hostile", target, content: "label-injection" }],
    [{ kind: "exporter-frozen", target: "all" }],
    [{ kind: "exporter-reset", target }],
    [{ kind: "profiling-stuck", target: "all" }],
  ],
  [
    [{ kind: "api-watch-cut" }],
    relist,
    [{ kind: "api-continue-expired" }, ...relist],
    [{ kind: "api-list-error" }, ...relist],
    [{ kind: "api-forbidden", resource: "pods" }, ...relist],
    [{ kind: "api-forbidden", resource: "nodes" }, ...relist],
    [{ kind: "api-slow", delayMs: 20 }, ...relist],
  ],
  [
    [{ kind: "node-lost", node }],
    [{ kind: "gpu-lost", node, physicalGpu: 1 }],
    [{ kind: "stray-process", node: "h100-08", physicalGpu: 0, activity: 0.5 }],
    [{ kind: "clock-jump", seconds: 7200 }],
    [{ kind: "clock-jump", seconds: -7200 }],
  ],
];

interface Pair {
  readonly name: string;
  readonly faults: readonly Fault[];
}

/** All pairs of faults of different families. */
const allPairs: readonly Pair[] = families.flatMap((family, i) =>
  families
    .slice(i + 1)
    .flatMap((other) =>
      family.flatMap((one) =>
        other.map((two) => ({ name: `${nameOf(one)} with ${nameOf(two)}`, faults: [...one, ...two] })),
      ),
    ),
);

function nameOf(faults: readonly Fault[]): string {
  return faults
    .slice(0, 1)
    .map((fault) =>
      Object.values(fault)
        .filter((value) => typeof value !== "object")
        .join(" "),
    )
    .join();
}

/** A fair choice: shuffled, and every fault is in it at least once. */
function choose(pairs: readonly Pair[], seed: number, count: number): readonly Pair[] {
  const random = createRandomStream(seed);
  const shuffled = pairs.map((pair) => ({ pair, key: random.next() })).sort((a, b) => a.key - b.key);
  const chosen = new Set<Pair>();
  for (const fault of families.flat()) {
    const found = shuffled.find(({ pair }) => fault.every((one) => pair.faults.includes(one)));
    if (found !== undefined) chosen.add(found.pair);
  }
  for (const { pair } of shuffled) if (chosen.size < count) chosen.add(pair);
  return [...chosen];
}

let watched: WatchedCluster;
beforeAll(async () => {
  watched = await watchDemoCluster();
});
afterAll(() => watched.stop());

it.each(choose(allPairs, 20_261_121, 24))(
  "$name: all sums add up, no cycle fails, and the truth comes back",
  async ({ faults }) => {
    const { cluster } = watched;
    const switchOff = await watched.fault(faults);
    for (let i = 0; i < 6; i++) {
      await watched.step();
      expect(cluster.stack.cycle.health().cycles.failed).toBe(0);
      expect((await watched.get("/")).status).toBe(200);
    }
    switchOff();
    await watched.recover();
    expect(cluster.stack.problems()).toEqual([]);
    expect(watched.differences()).toEqual([]);
    expect(sum(latest(cluster).pools.map((pool) => pool.physicalGpus))).toBeCloseTo(176, 6);
  },
  60_000,
);
