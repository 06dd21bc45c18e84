import { isDeepStrictEqual } from "node:util";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { analyse, analysisSettings } from "../../exporter/analysis/analyse.ts";
import { defaultConfig } from "../../exporter/config/defaults.ts";
import { type GangSize, gangSizes } from "../../exporter/model/topology.ts";
import { until } from "./kubernetesAdmin.ts";
import { type Watcher, watchCluster } from "./queues/lookAt.ts";
import { type AdmittedGang, type GangShape, type RackCluster, startRackCluster } from "./topology/rackCluster.ts";
import { blockOf, levels, rackOfNode, racks, sentinel } from "./topology/rackObjects.ts";
import { podsThatFit, type Scatter, scatterOf } from "./topology/scatters.ts";

/** 20 scatters, from few nodes with a pod to most of them. */
const scatters = Array.from({ length: 20 }, (_, i): [number, Scatter] => [i, scatterOf(1000 + i, i / 19)]);

/** Gangs of so many GPUs whose pods take whole nodes. */
const wholeNodes = (gpus: number) => ({ pods: gpus / 4, gpusPerPod: 4 });

const settings = analysisSettings(defaultConfig);

let cluster: RackCluster;
let watcher: Watcher;

beforeAll(async () => {
  cluster = await startRackCluster();
  watcher = await watchCluster(cluster.server);
}, 900_000);

afterEach(async () => await cluster?.withdraw());

afterAll(async () => {
  await watcher?.stop();
  await cluster?.stop();
});

/** Fairlead's slots for gangs of so many GPUs in each domain of a level, once it has seen all pods; and all of it. */
async function ownSlots(level: string): Promise<(gpus: GangSize) => readonly (number | undefined)[]> {
  const running = cluster.podNames().toSorted();
  const seen = (): readonly string[] =>
    watcher
      .look()
      .snapshot.pods.flatMap(({ name, node }) => (node === null || node === sentinel ? [] : [name]))
      .toSorted();
  await until("Fairlead has seen the pods", () => isDeepStrictEqual(seen(), running));
  const { pools } = analyse(watcher.look().snapshot, settings).topology;
  const found = pools.find(({ pool }) => pool === "GB200")?.levels.find((one) => one.level === level);
  return (gpus) => {
    const size = gangSizes.indexOf(gpus);
    return (found?.domains ?? []).map(({ slots }) => slots[size]);
  };
}

/** How many gangs are within each of so many domains; a gang that is in several is in none. */
function gangsIn(
  gangs: readonly AdmittedGang[],
  domainOf: (node: string) => number,
  domains: number,
): readonly number[] {
  const counts = Array<number>(domains).fill(0);
  for (const { nodes } of gangs) {
    const [domain = 0, ...others] = new Set(nodes.map(domainOf));
    if (others.length === 0) counts[domain] = (counts[domain] ?? 0) + 1;
  }
  return counts;
}

const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0);

/** Gangs of so many pods that fit into each rack. */
const slotsOf = (scatter: Scatter, { pods, gpusPerPod }: GangShape): readonly number[] =>
  podsThatFit(scatter, gpusPerPod).map((fit) => Math.floor(fit / pods));

/** What is asked of a scatter: each takes seconds, so not everything is asked of each. */
const askedOf = (index: number): readonly GangSize[] => [
  64,
  ...(index % 4 === 3 ? ([32] as const) : []),
  ...(index > 17 ? ([8] as const) : []),
];

describe("Kueue with TopologyAwareScheduling, 33 racks of 18 nodes of 4 GPUs", () => {
  it.each(scatters)("scatter %i: admits into each rack as many gangs as fit into it", async (index, scatter) => {
    await cluster.scatter(scatter);
    const own = await ownSlots(levels.rack);
    for (const gpus of askedOf(index)) {
      const shape = wholeNodes(gpus);
      const slots = slotsOf(scatter, shape);
      const { admitted, waits } = await cluster.submit({ ...shape, required: levels.rack }, sum(slots) + 1);
      expect(gangsIn(admitted, rackOfNode, racks)).toEqual(slots);
      expect(own(gpus)).toEqual(slots);
      expect(waits).toMatch(/topology "gangs" allows to fit only \d+ out of \d+ pod\(s\)/);
      await cluster.withdraw();
    }
  });

  it("admits into each block as many gangs of 256 GPUs as fit into it, over racks", async () => {
    const scatter = scatterOf(1, 0.2);
    await cluster.scatter(scatter);
    const own = await ownSlots(levels.block);
    const shape = { pods: 64, gpusPerPod: 4, required: levels.block };
    const { admitted } = await cluster.submit(shape, 9);
    const inBlock = (block: number): number =>
      sum(podsThatFit(scatter, 4).filter((_, rack) => blockOf(rack) === `block-${block}`));
    const slots = [0, 1, 2].map((block) => Math.floor(inBlock(block) / 64));
    expect(gangsIn(admitted, (node) => Number(blockOf(rackOfNode(node)).split("-")[1]), 3)).toEqual(slots);
    expect(own(256)).toEqual(slots);
  });

  it("admits a gang that only prefers a rack wherever its pods fit, over racks and blocks", async () => {
    const scatter = scatterOf(2, 0.8);
    await cluster.scatter(scatter);
    const shape = wholeNodes(64);
    const anywhere = Math.floor(sum(podsThatFit(scatter, 4)) / shape.pods);
    const { admitted } = await cluster.submit({ ...shape, preferred: levels.rack }, anywhere + 1);
    expect(admitted).toHaveLength(anywhere);
    // It takes the racks with a whole slot first, and what is left of the others together.
    const slots = slotsOf(scatter, shape);
    expect(anywhere).toBeGreaterThan(sum(slots));
    expect(gangsIn(admitted, rackOfNode, racks)).toEqual(slots);
  });
});
