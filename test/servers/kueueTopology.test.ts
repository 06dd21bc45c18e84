import { isDeepStrictEqual } from "node:util";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { findDefragment } from "../../exporter/advice/kinds/defragment.ts";
import { allPieces } from "../../exporter/advice/rounds/inPieces.ts";
import { nothingWatched } from "../../exporter/advice/usage/usageWatch.ts";
import { createTrial } from "../../exporter/advice/whatIf/trial.ts";
import { analyse, analysisSettings } from "../../exporter/analysis/analyse.ts";
import { defaultConfig } from "../../exporter/config/defaults.ts";
import type { PodView, Snapshot } from "../../exporter/join/snapshot.ts";
import { type GangSize, gangSizes } from "../../exporter/model/topology.ts";
import { until } from "./kubernetesAdmin.ts";
import { busyGpus } from "./queues/busyGpus.ts";
import { type Watcher, watchCluster } from "./queues/lookAt.ts";
import { type AdmittedGang, type GangShape, type RackCluster, startRackCluster } from "./topology/rackCluster.ts";
import { blockOf, levels, nodeName, nodesPerRack, rackOfNode, racks, sentinel } from "./topology/rackObjects.ts";
import { podsThatFit, type Scatter, scatterOf } from "./topology/scatters.ts";
import { cordoned, endedPod, notReady, withoutGpu, withoutLabel } from "./topology/spoiltNodes.ts";

/** 20 scatters, from few nodes with a pod to most of them. */
const scatters = Array.from({ length: 20 }, (_, i): [number, Scatter] => [i, scatterOf(1000 + i, i / 19)]);

/** Gangs of so many GPUs whose pods take whole nodes. */
const wholeNodes = (gpus: number) => ({ pods: gpus / 4, gpusPerPod: 4 });

const settings = analysisSettings(defaultConfig);

let cluster: RackCluster;
let watcher: Watcher;

beforeAll(async () => {
  cluster = await startRackCluster();
  watcher = await watchCluster(cluster.server, undefined, busyGpus);
}, 900_000);

afterEach(async () => await cluster?.withdraw());

afterAll(async () => {
  await watcher?.stop();
  await cluster?.stop();
});

/** What Fairlead sees once it has seen all pods. */
async function seen(): Promise<Snapshot> {
  const running = cluster.podNames().toSorted();
  const isBound = ({ node }: PodView): boolean => node !== null && node !== sentinel;
  const names = (): readonly string[] =>
    watcher
      .look()
      .snapshot.pods.filter(isBound)
      .map(({ name }) => name)
      .toSorted();
  await until("Fairlead has seen the pods", () => isDeepStrictEqual(names(), running));
  return watcher.look().snapshot;
}

/** The same once it has seen all pods. */
const ownSlots = async (level: string) => ownSlotsOf(await seen(), level);

/** Fairlead's slots for gangs of so many GPUs in each domain of a level. */
function ownSlotsOf(snapshot: Snapshot, level: string): (gpus: GangSize) => readonly (number | undefined)[] {
  const { pools } = analyse(snapshot, settings).topology;
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
  ...(index === 19 ? ([8] as const) : []),
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

  it("admits a blocked gang after the moves that Fairlead advises, into the rack that it names", async () => {
    // No rack has 16 free nodes: rack 20 lacks three, and all others more.
    const scatter = Array.from({ length: racks }, (_, rack) =>
      Array.from({ length: rack === 20 ? 5 : 6 + (rack % 3) }, (_, node) => nodeName(rack, (5 * node + rack) % 18)),
    ).flat();
    await cluster.scatter(scatter);
    const { admitted, waits } = await cluster.submit({ ...wholeNodes(64), required: levels.rack }, 1);
    expect([admitted, waits]).toEqual([[], expect.stringContaining("allows to fit only 13 out of 16 pod(s)")]);
    await seen();
    await until("Fairlead has seen the gang", () => watcher.look().snapshot.queueing.gangs.length === 1);
    const { snapshot } = watcher.look();
    const before = analyse({ ...snapshot, at: snapshot.at - 600 }, settings);
    const analysis = analyse(snapshot, { ...settings, blockedSince: before.blocked.since });
    expect(analysis.waiting.work).toMatchObject([{ cause: "topology", blockingLevel: levels.rack }]);
    const moment = { analysis, settings: defaultConfig.advice, usage: nothingWatched };
    const trial = createTrial(moment);
    const { candidates, withheld } = allPieces(findDefragment(moment, trial));
    expect(withheld).toEqual([]);
    const [only] = candidates;
    if (only === undefined) throw new Error("nothing is advised");
    expect(only.title).toMatch(/ \(3 GPUs\) from node-20-\d\d, .*: then rack-20 takes research\/gang-0 \(64 GPUs\)$/);
    const { moved } = trial.outcome(only.plan, "mostAllocated");
    for (const [done, { pod, to }] of moved.entries()) {
      await cluster.movePod(snapshot.pods[pod]?.name ?? "", snapshot.nodes[to ?? -1]?.name ?? "");
      if (done + 1 === moved.length) break;
      // Each move counts, and none is one too many: until the last, the gang waits.
      const fits = `allows to fit only ${14 + done} out of 16 pod(s)`;
      await until(`Kueue says that it ${fits}`, async () => (await cluster.outcome()).waits?.includes(fits) === true);
    }
    await until("Kueue admits the gang", async () => (await cluster.outcome()).admitted.length === 1);
    const after = await cluster.outcome();
    expect(gangsIn(after.admitted, rackOfNode, racks).indexOf(1)).toBe(20);
  });

  it("counts no node that is cordoned, not ready or without a label, and no GPU that cannot be allocated", async () => {
    await cluster.scatter([]);
    // Three nodes of a rack of 18 are one too many for a gang of 64; pods that have ended hold nothing.
    const spoilt = [cordoned, notReady, withoutLabel, withoutGpu];
    for (const [rack, spoil] of spoilt.entries())
      for (const node of [1, 8, 17]) await spoil(cluster.admin, nodeName(rack, node));
    for (const node of [1, 8, 17]) await endedPod(cluster.admin, nodeName(spoilt.length, node));
    const whole = racks * nodesPerRack - 3 * spoilt.length;
    const one = { pods: whole + 1, gpusPerPod: 4, preferred: levels.rack };
    await until("Kueue has seen the nodes", async () => {
      await cluster.withdraw();
      return (await cluster.submit(one, 1)).waits?.includes(`only ${whole} out of ${whole + 1}`) === true;
    });
    await cluster.withdraw();
    const slots = Array.from({ length: racks }, (_, rack) => (rack < spoilt.length ? 0 : 1));
    const { admitted } = await cluster.submit({ ...wholeNodes(64), required: levels.rack }, sum(slots) + 1);
    expect(gangsIn(admitted, rackOfNode, racks)).toEqual(slots);
    const own = () => ownSlotsOf(watcher.look().snapshot, levels.rack)(64);
    await until("Fairlead has seen the nodes", () => isDeepStrictEqual(own(), slots), 30).catch(() => {});
    expect(own()).toEqual(slots);
  });
});
