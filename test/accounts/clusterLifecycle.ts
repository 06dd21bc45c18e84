import fc from "fast-check";
import type { Analysis } from "../../exporter/analysis/analysis.ts";
import { emptyMemory, type Memory } from "../../exporter/join/memory.ts";
import type { ClusterState } from "../../exporter/model/cluster.ts";
import type { DeviceReading } from "../../exporter/model/telemetry.ts";
import { createRandomStream, hashText, noise } from "../../simulator/random.ts";
import { now } from "../join/clusterBuilder.ts";
import { anyCluster } from "../join/clusterGenerator.ts";
import { analysed, defaultSettings, joined } from "../join/outcomes.ts";
import { generatedPrices } from "./generatedPrices.ts";

/** One cycle of a generated lifecycle: what was found, and when by both clocks. */
export interface Moment {
  readonly analysis: Analysis;
  readonly wall: number;
  readonly monotonic: number;
}

export const intervalSeconds = 30;

/**
 * What becomes of a cluster: in each cycle some pods, pages and nodes are gone, activities are new but for GPUs that hang, energy counters rise,
 * and now and then fall or are missing; nodes have prices (generatedPrices.ts). `order` only changes in which order objects, pages and rows are listed.
 */
export function lifecycleOf(state: ClusterState, seed: number, cycles: number, order = 0): readonly Moment[] {
  const random = createRandomStream(seed);
  const moments: Moment[] = [];
  let memory: Memory = emptyMemory;
  let wall = now + random.between(-4000, 0);
  let monotonic = 1000;
  for (let cycle = 0; cycle < cycles; cycle++) {
    const seconds = random.pick([30, 30, 30, 31.7, 28.25, 12, 89, 95]);
    monotonic += seconds;
    wall += seconds + random.pick([0, 0, 0, 0, 0.2, -0.3, -29, 29, 3000]);
    const { snapshot, memory: next } = joined(stateAt(state, seed, cycle, order), defaultSettings, memory, wall);
    memory = next;
    const analysis = { ...analysed(snapshot), prices: generatedPrices(snapshot, seed, cycle) };
    moments.push({ analysis, wall, monotonic });
  }
  return moments;
}

/** A generated cluster with a lifecycle of some cycles. */
export const anyLifecycle = fc.record({
  state: anyCluster,
  seed: fc.integer({ min: 1, max: 2 ** 31 - 1 }),
  cycles: fc.integer({ min: 2, max: 6 }),
});

function stateAt(state: ClusterState, seed: number, cycle: number, order: number): ClusterState {
  const happens = (name: string, chance: number): boolean => noise(hashText(name, seed), cycle) < chance;
  const pages = state.telemetry
    .filter((page) => !happens(`page ${page.target}`, 0.08))
    .map((page) => ({
      ...page,
      devices: sorted(
        page.devices.map((row) => readingAt(row, seed, cycle)),
        order,
      ),
    }));
  return {
    ...state,
    nodes: sorted(
      state.nodes.filter((node) => !happens(`node ${node.name}`, 0.03)),
      order,
    ),
    pods: sorted(
      state.pods.filter((pod) => !happens(`pod ${pod.uid}`, 0.15)),
      order,
    ),
    telemetry: sorted(pages, order),
  };
}

function readingAt(row: DeviceReading, seed: number, cycle: number): DeviceReading {
  const device = hashText(`${row.uuid}/${row.gpuInstance}`, seed);
  const physicalGpu = hashText(row.uuid, seed);
  const level = noise(device, 100 + cycle);
  const activity = level < 0.1 ? null : level < 0.2 ? 0 : level < 0.3 ? 1 : level;
  const signals = row.gpuInstance === null ? { smActive: activity, gpuUtil: activity } : { grEngineActive: activity };
  const resets = Math.floor(cycle / 3) * 2000;
  const energyJoules = noise(physicalGpu, 200 + cycle) < 0.2 ? null : Math.max(0, 5000 + cycle * 9000 - resets * cycle);
  const powerWatts = noise(physicalGpu, 300 + cycle) < 0.3 ? null : 700 * noise(physicalGpu, 400 + cycle);
  // Some GPUs look busy and compute nothing all the time.
  if (row.gpuInstance === null && noise(physicalGpu, 500) < 0.2) return { ...row, ...hung, energyJoules };
  return { ...row, ...signals, energyJoules, powerWatts };
}

const hung = { smActive: 1, gpuUtil: 1, tensorActive: 0, dramActive: 0.001, powerWatts: 80 } as const;

function sorted<T>(items: readonly T[], order: number): readonly T[] {
  if (order === 0) return items;
  return items
    .map((item, i) => ({ item, at: noise(order, i) }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item);
}
