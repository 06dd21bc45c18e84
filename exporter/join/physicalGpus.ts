import { xidCauseOf } from "../model/gpuFaults.ts";
import type { Problem } from "../model/problem.ts";
import type { DeviceReading } from "../model/telemetry.ts";
import type { DraDevice } from "./draDevices.ts";
import type { DeviceDraft } from "./drafts.ts";
import { canonicalModel, memoryOfModel, unknownModel } from "./gpuModel.ts";
import type { Inventory } from "./inventory.ts";
import { layOutMig, type MigGpu, migSizeOf, rawWeight, sameProfile } from "./mig.ts";
import { likelyGeometryOf } from "./migGeometry.ts";
import { slotsOfRows } from "./migSlots.ts";
import type { UnpartitionedPart } from "./snapshot.ts";

/** Everything that is known about one node's GPUs. */
export interface GpuEvidence {
  readonly node: string;
  readonly inventory: Inventory;
  /** Fresh readings of the node's telemetry; `null` when there is no fresh page. */
  readonly readings: readonly DeviceReading[] | null;
  /** MIG devices of this node that claims have been given: they exist, whatever telemetry shows. */
  readonly allocatedMig: readonly DraDevice[];
  /** UUIDs that reservation pods or allocation annotations name on this node. */
  readonly namedUuids: readonly string[];
  /** UUIDs seen since the node's boot. */
  readonly rememberedUuids: readonly string[];
  /** UUIDs of GPUs and MIG instances that the kubelet reports as unhealthy to pods of the node. */
  readonly unhealthyUuids: ReadonlySet<string>;
  readonly poolOf: (model: string) => string;
}

export interface GpusOfNode {
  readonly devices: readonly DeviceDraft[];
  readonly unpartitioned: readonly UnpartitionedPart[];
  readonly problems: readonly Problem[];
}

/**
 * Lays out a node's devices so that their weights and the unpartitioned parts add up to its physical GPUs: GPUs that
 * something identifies first, then remembered ones, then one device without UUID for each GPU that nothing identifies.
 */
export function layOutGpus(evidence: GpuEvidence): GpusOfNode {
  const { inventory, node } = evidence;
  const count = inventory.physicalGpus ?? 0;
  const problems: Problem[] = [];
  const readings = Map.groupBy(evidence.readings ?? [], (reading) => reading.uuid);
  const uuids = identifiedGpus(evidence, readings, count, problems);
  const devices: DeviceDraft[] = [];
  const unpartitioned: UnpartitionedPart[] = [];
  const models = new Set([...readings.values()].flat().map((r) => canonicalModel(r.modelName) ?? unknownModel));
  for (const uuid of uuids) {
    const gpu = gpuOf(evidence, uuid, readings.get(uuid) ?? [], models.size > 1);
    devices.push(...gpu.devices);
    problems.push(...gpu.problems);
    if (gpu.rest > 1e-9)
      unpartitioned.push({ node, uuid, model: gpu.model, pool: evidence.poolOf(gpu.model), weight: gpu.rest });
  }
  for (let i = uuids.length; i < count; i++) devices.push(unidentifiedGpu(evidence));
  markUnhealthy(devices, inventory);
  return { devices, unpartitioned, problems };
}

function identifiedGpus(
  evidence: GpuEvidence,
  readings: ReadonlyMap<string, readonly DeviceReading[]>,
  count: number,
  problems: Problem[],
): readonly string[] {
  const claimed = [...readings].filter(([, rows]) => rows.some((r) => r.claimants.length > 0)).map(([uuid]) => uuid);
  const named = [...evidence.namedUuids].sort();
  const remembered = [...evidence.rememberedUuids].sort();
  const shown = [
    ...[...evidence.inventory.gpusByUuid.keys()].sort(),
    ...named.filter((uuid) => readings.has(uuid)),
    ...claimed.sort(),
    ...[...readings.keys()].sort(),
  ];
  // A pod's annotation may name any GPU, real or not: without other evidence it comes last, and never replaces a real
  // one.
  const ranked = [...shown, ...named.filter((uuid) => remembered.includes(uuid)), ...remembered, ...named];
  const known = new Set([...shown, ...named]).size;
  if (known > count && evidence.inventory.physicalGpus !== null)
    problems.push(moreThanCounted(evidence.node, known, count));
  return [...new Set(ranked)].slice(0, count);
}

interface PhysicalGpu {
  readonly model: string;
  readonly devices: readonly DeviceDraft[];
  /** The part of the GPU that is in no instance. */
  readonly rest: number;
  readonly problems: readonly Problem[];
}

function gpuOf(evidence: GpuEvidence, uuid: string, rows: readonly DeviceReading[], isMixed: boolean): PhysicalGpu {
  const { inventory, node } = evidence;
  const byApi = inventory.gpusByUuid.get(uuid);
  const byTelemetry = rows.map((r) => canonicalModel(r.modelName)).find((m) => m !== null) ?? null;
  const labelled = inventory.model === unknownModel || isMixed ? null : inventory.model;
  const model = byApi?.model ?? labelled ?? byTelemetry ?? inventory.model;
  const isReported = evidence.unhealthyUuids.has(uuid);
  const base = {
    node,
    uuid,
    model,
    pool: evidence.poolOf(model),
    virtual: inventory.virtual,
    memoryBytes:
      byApi?.memoryBytes ??
      rows.find((r) => r.gpuInstance === null)?.memoryTotalBytes ??
      (labelled === null ? null : inventory.memoryBytes) ??
      memoryOfModel(model),
    unhealthy: byApi?.tainted === true || isReported,
    fault: byApi?.taintCause ?? (isReported ? ("pod_status" as const) : null),
    orphanReservation: false,
  };
  const instances = rows.filter((r) => r.gpuInstance !== null);
  const granted = unseenGrants(evidence, uuid, instances);
  if (instances.length === 0 && granted.length === 0) {
    const reading = rows[0] ?? null;
    const whole = { ...base, ...wholeGpu, slots: slotsOf(reading, inventory), reading, shares: [] };
    return { model, devices: [whole], rest: 0, problems: [] };
  }
  const lying = slotsOfRows(instances, byApi?.instances.filter((device) => !granted.includes(device)) ?? []);
  const devices = [
    ...instances.map((reading, row) => ({
      ...instanceDraft(base, inventory, reading.gpuInstance, reading.profile, reading.migUuid, reading),
      ...reportedInstance(evidence, base, reading.migUuid),
      ...(lying?.[row] ?? noMigSlots),
    })),
    ...granted.map((device) => ({
      ...instanceDraft(base, inventory, null, device.profile, device.migUuid, null),
      ...reportedInstance(evidence, base, device.migUuid),
      migSlots: device.migSlots,
      areSlotsAssumed: false,
    })),
  ];
  return divide(node, uuid, { model, memoryBytes: base.memoryBytes }, devices);
}

/** What the kubelet reports about one MIG instance; its GPU and the others on it are as they are. */
function reportedInstance(
  { unhealthyUuids }: GpuEvidence,
  { fault }: GpuBase,
  migUuid: string | null,
): Partial<Pick<DeviceDraft, "unhealthy" | "fault">> {
  if (migUuid === null || !unhealthyUuids.has(migUuid)) return {};
  return { unhealthy: true, fault: fault ?? "pod_status" };
}

/** MIG devices that claims hold but no telemetry row shows. */
function unseenGrants(evidence: GpuEvidence, uuid: string, instances: readonly DeviceReading[]): readonly DraDevice[] {
  const rows = [...instances];
  return evidence.allocatedMig
    .filter((device) => device.gpuUuid === uuid)
    .filter((device) => {
      const at = rows.findIndex(
        (r) =>
          (r.migUuid !== null && r.migUuid === device.migUuid) || sameProfile(r.profile ?? "", device.profile ?? "?"),
      );
      if (at >= 0) rows.splice(at, 1);
      return at < 0;
    });
}

/** Replicas of a GPU: the API's number; with pages alone at least as many as rows show sharers. */
function slotsOf(reading: DeviceReading | null, inventory: Inventory): number {
  if (inventory.units.size > 0 || reading === null) return inventory.slots;
  const shown = reading.claimants.reduce((sum, claimant) => sum + claimant.slots, 0);
  return Math.max(inventory.slots, reading.virtualSlots, shown, 1);
}

const noMigSlots = { migSlots: null, areSlotsAssumed: false } as const;

/** A GPU that is not partitioned. */
const wholeGpu = { gpuInstance: null, migUuid: null, profile: null, weight: 1, ...noMigSlots } as const;

type GpuBase = Pick<
  DeviceDraft,
  "node" | "uuid" | "model" | "pool" | "virtual" | "memoryBytes" | "unhealthy" | "fault" | "orphanReservation"
>;

function instanceDraft(
  base: GpuBase,
  inventory: Inventory,
  gpuInstance: string | null,
  profile: string | null,
  migUuid: string | null,
  reading: DeviceReading | null,
): DeviceDraft {
  const unit = [...inventory.units.values()].find(
    (u) => u.profile !== null && profile !== null && sameProfile(u.profile, profile),
  );
  return {
    ...base,
    gpuInstance,
    migUuid,
    profile,
    // Its weight depends on its neighbours: see `divide`.
    weight: 0,
    slots: unit?.replicas ?? slotsOf(reading, { ...inventory, slots: 1 }),
    reading,
    shares: [],
    ...noMigSlots,
    memoryBytes: reading?.memoryTotalBytes ?? null,
  };
}

/**
 * The part of its GPU that each instance is. Together they are never more than the GPU: rows of an older geometry are scaled
 * down together, and reported.
 */
function divide(node: string, uuid: string, physicalGpu: MigGpu, devices: readonly DeviceDraft[]): PhysicalGpu {
  const { model } = physicalGpu;
  const geometry = likelyGeometryOf(model);
  const sizes = devices.map(({ profile }) => (profile === null ? null : migSizeOf(profile, physicalGpu)));
  const layout = layOutMig(
    sizes.flatMap((size) => (size === null ? [] : [{ size, count: 1 }])),
    1,
    geometry,
  );
  const weighed = devices.map((device, i) => {
    const size = sizes[i] ?? null;
    return { ...device, weight: size === null ? 0 : rawWeight(size, geometry) * layout.scale };
  });
  return {
    model,
    devices: weighed,
    rest: layout.rest,
    problems: layout.isOverfull ? [overfull(node, uuid, devices)] : [],
  };
}

function overfull(node: string, uuid: string, devices: readonly DeviceDraft[]): Problem {
  return {
    source: "join",
    code: "mig-overfull",
    severity: "warning",
    subject: node,
    message: `node ${node}: the MIG instances shown on ${uuid} (${devices.map(({ profile }) => profile ?? "?").join(", ")}) take more slices than one GPU has`,
    nextStep: "The exporter may still show an older MIG layout; restart dcgm-exporter on this node.",
  };
}

function unidentifiedGpu(evidence: GpuEvidence): DeviceDraft {
  const { inventory, node } = evidence;
  const { model, slots, virtual } = inventory;
  return {
    ...wholeGpu,
    node,
    uuid: null,
    model,
    pool: evidence.poolOf(model),
    slots,
    virtual,
    memoryBytes: inventory.memoryBytes ?? memoryOfModel(model),
    unhealthy: false,
    fault: null,
    orphanReservation: false,
    reading: null,
    shares: [],
  };
}

/**
 * The API says how many GPUs are unhealthy, not which: those without a fresh reading come first, then those with an XID error
 * of the GPU, then those without a pod.
 */
function markUnhealthy(devices: readonly DeviceDraft[], { unhealthyGpus, lacksDriver }: Inventory): void {
  let left = unhealthyGpus - devices.filter((d) => d.unhealthy).reduce((sum, d) => sum + d.weight, 0);
  const rank = (d: DeviceDraft) =>
    (d.reading === null ? 0 : xidCauseOf(d.reading.lastXid) === null ? 3 : 1) +
    (d.reading?.claimants.length ? 1 : 0) +
    (d.uuid === null ? -1 : 0);
  const candidates = devices.filter((d) => !d.unhealthy).sort((a, b) => rank(a) - rank(b));
  for (const device of candidates) {
    if (left <= 1e-6 || left < device.weight - 1e-6) continue;
    device.unhealthy = true;
    device.fault = lacksDriver ? "driver" : null;
    left -= device.weight;
  }
}

function moreThanCounted(node: string, shown: number, count: number): Problem {
  return {
    source: "join",
    code: "gpu-count-conflict",
    severity: "warning",
    subject: node,
    message: `node ${node}: telemetry and pods name ${shown} GPUs, the API counts ${count}; the API's number is used`,
    nextStep:
      "Check that the exporter on this node sees only this node's GPUs, and that the device plugin registers all of them.",
  };
}
