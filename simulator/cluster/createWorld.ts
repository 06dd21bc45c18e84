import { type GpuModel, gpuModels, instanceIds, instanceWeights, mostInstances } from "../gpuModels.ts";
import { createRandomStream, hashText, nameSuffix, uuidFrom } from "../random.ts";
import type { NodeSpec, Scenario } from "../scenario.ts";
import type { PhysicalGpu, SimNode, Unit, World } from "./world.ts";

/** An empty world at the given time: nodes and GPUs, no workloads. */
export function createWorld(scenario: Scenario, seed: number, time: number): World {
  const nodes = scenario.nodes.map((spec) => createNode(spec, seed, time));
  return {
    scenario,
    seed,
    random: createRandomStream(hashText(scenario.name, seed)),
    time,
    clockOffset: 0,
    start: time + scenario.warmupSeconds,
    observedAt: null,
    serial: 0,
    nodes,
    nodesByName: new Map(nodes.map((node) => [node.spec.name, node])),
    teams: new Map(scenario.namespaces.map((namespace) => [namespace.name, namespace.team])),
    workloads: new Set(),
    waiting: new Set(),
    starting: new Set(),
    running: new Set(),
    dirtyNodes: new Set(nodes),
    dirtyPods: new Set(),
    dirtyGpus: new Set(),
    removedWorkloads: new Set(),
    newWorkloads: new Set(),
    removedPods: new Set(),
    evictions: new Map(),
    unsettled: new Set(),
    removedNodes: new Set(),
    spareNodes: new Set(),
    removedExporterPods: new Set(),
    lostGpuSeconds: new Map(),
    foundStopped: [],
    ownerWaitSeconds: 0,
    finished: { gpuSeconds: 0, workloads: 0 },
    appliedAgain: new Set(),
    pastUse: [],
  };
}

function createNode(spec: NodeSpec, seed: number, time: number): SimNode {
  const identity = `${seed}/${spec.name}`;
  const physicalGpus: PhysicalGpu[] = [];
  const node: SimNode = {
    spec,
    uid: uuidFrom(`node/${identity}`),
    physicalGpus,
    freeCpuMilli: spec.cpuMilli,
    freeMemoryMiB: spec.memoryMiB,
    createdAt: time - 30 * 86_400,
    lost: false,
    readyChangedAt: time - 86_400,
    exporterPort: 0,
    exporterPodName: `nvidia-dcgm-exporter-${nameSuffix(`exporter/${identity}`)}`,
    exporterRestarts: 0,
    exporterStartedAt: time - 30 * 86_400,
    migWish: null,
    tainted: false,
    emptySince: null,
    unusedSince: null,
  };
  spec.physicalGpus.forEach((name, index) => {
    const uuid = uuidFrom(`card/${index}/${identity}`);
    physicalGpus.push({
      node,
      index,
      minor: (index + 1) % spec.physicalGpus.length,
      uuid: spec.mode.kind === "vgpu-guest" ? `GPU-${uuid.slice(0, 18)}-0000-000000000000` : `GPU-${uuid}`,
      model: gpuModels[name],
      units: unitsOf(spec, gpuModels[name], index),
      allocations: new Set(),
      reservation: null,
      healthy: true,
      xid: null,
      shownXid: 0,
      lostTime: null,
      slowed: null,
      cappedWatts: null,
      stray: 0,
      sample: null,
      energyMillijoules: 1_000_000 * (hashText(uuid) % 100_000),
    });
  });
  return node;
}

/** The replicas or MIG instances of a GPU, by its node's mode. */
export function unitsOf(spec: NodeSpec, model: GpuModel, index: number): readonly Unit[] {
  const { mode } = spec;
  if (mode.kind === "time-slicing" || mode.kind === "mps") {
    return Array.from({ length: mode.replicas }, (_, replica) => ({
      id: String(replica),
      profile: null,
      weight: 1 / mode.replicas,
      holder: null,
      observed: null,
    }));
  }
  const layout = migLayout(spec, model, index);
  const ids = instanceIds(layout);
  const weights = instanceWeights(layout, model);
  return layout.map((profile, position) => ({
    id: ids[position] ?? String(position),
    profile,
    weight: weights[position] ?? 0,
    holder: null,
    observed: null,
  }));
}

function migLayout(spec: NodeSpec, model: GpuModel, index: number): readonly string[] {
  if (model.migSlices === 0) return [];
  if (spec.mode.kind === "mig-mixed") return spec.mode.layouts[index % Math.max(1, spec.mode.layouts.length)] ?? [];
  if (spec.mode.kind !== "mig-single") return [];
  const { profile } = spec.mode;
  return Array.from({ length: mostInstances(profile, model) }, () => profile);
}
