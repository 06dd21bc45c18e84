import type { DeviceTaintRule, ResourceClaim, ResourceSlice, SliceDevice } from "../model/cluster.ts";
import { type UnavailableCause, xidCauseOf } from "../model/gpuFaults.ts";
import type { ResourceAmounts, Taint } from "../model/node.ts";
import { nvidiaDraDriver } from "../model/wellKnown.ts";
import { canonicalModel } from "./gpuModel.ts";

/** What a ResourceSlice says about one GPU or MIG device. */
export interface DraDevice {
  readonly node: string;
  /** UUID of the GPU (for MIG: of the parent); `null` where the driver does not say. */
  readonly gpuUuid: string | null;
  readonly migUuid: string | null;
  /** MIG profile; `null` for a whole GPU. */
  readonly profile: string | null;
  readonly model: string | null;
  readonly memoryBytes: number | null;
  /** Its total capacities, in base units by name without the driver's domain; claims may consume parts of them. */
  readonly capacity: ResourceAmounts;
  /** PCI address of its GPU, `0000:65:00.0`; `null` where the driver does not say. */
  readonly pciAddress: string | null;
  /** Memory slices of its GPU that a MIG device takes; `null` for a whole GPU, and where the driver does not say. */
  readonly migSlots: readonly number[] | null;
  /** Whether a taint keeps work away from it or evicts work: it is neither idle nor free then. */
  readonly tainted: boolean;
  /** What its taints say; `null` where it is not tainted. */
  readonly taintCause: UnavailableCause | null;
}

/** GPU devices by `driver/pool/device`, from the newest complete generation of each pool. */
export type DraDevices = ReadonlyMap<string, DraDevice>;

/** The key of a device as claims name it. */
export function draDeviceKey(driver: string, pool: string, device: string): string {
  return `${driver}/${pool}/${device}`;
}

/**
 * Reads the GPU devices out of ResourceSlices. While a pool is being rewritten, the newest generation whose slices are all
 * present counts; if none is complete, the newest one. Entries of type `mig` of a partitionable GPU are possible, not
 * existing, instances: callers count GPUs, never entries. `rules` taint devices in addition to slices. `read` keeps the
 * objects that were read from unchanged slices.
 */
export function indexDraDevices(
  slices: readonly ResourceSlice[],
  read: WeakMap<ResourceSlice, readonly NamedDraDevice[]> = new WeakMap(),
  rules: readonly DeviceTaintRule[] = [],
): DraDevices {
  const applied = rules.filter(({ taint }) => taint !== null && keepsAway(taint));
  const devices = new Map<string, DraDevice>();
  const inOrder = [...slices].sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
  for (const pool of currentPools(inOrder)) {
    for (const slice of pool) {
      const known = read.get(slice) ?? readSlice(slice);
      read.set(slice, known);
      for (const { key, device } of known) devices.set(key, underRules(key, device, applied));
    }
  }
  return oneGpuEach(devices);
}

/**
 * A GPU that can be passed through has a second entry without a UUID (`gpu-vfio-0` beside `gpu-0`): its PCI address shows that
 * it is the same GPU, and it gets that UUID.
 */
function oneGpuEach(devices: ReadonlyMap<string, DraDevice>): DraDevices {
  const nameless = [...devices].filter(([, { gpuUuid, pciAddress }]) => pciAddress !== null && gpuUuid === pciAddress);
  if (nameless.length === 0) return devices;
  const uuids = new Map<string, string>();
  for (const { node, gpuUuid, pciAddress, profile } of devices.values())
    if (profile === null && gpuUuid !== null && pciAddress !== null && gpuUuid !== pciAddress)
      uuids.set(`${node}/${pciAddress}`, gpuUuid);
  const merged = new Map(devices);
  for (const [key, device] of nameless) {
    const uuid = uuids.get(`${device.node}/${device.pciAddress}`);
    if (uuid !== undefined) merged.set(key, renamed(device, uuid));
  }
  return merged;
}

const keepsAway = ({ effect }: Taint): boolean => effect !== "PreferNoSchedule";

/** Devices that a rule taints, kept so that an unchanged device yields the same object. */
const tainted = new WeakMap<DraDevice, DraDevice>();

function underRules(key: string, device: DraDevice, rules: readonly DeviceTaintRule[]): DraDevice {
  if (device.tainted || !rules.some((rule) => selectsDevice(rule, key))) return device;
  const known = tainted.get(device) ?? { ...device, tainted: true, taintCause: "taint" as const };
  tainted.set(device, known);
  return known;
}

/** Names of pools may contain slashes; those of drivers and devices do not. */
function selectsDevice({ driver, pool, device }: DeviceTaintRule, key: string): boolean {
  const [first, last] = [key.indexOf("/"), key.lastIndexOf("/")];
  return (
    (driver === null || driver === key.slice(0, first)) &&
    (pool === null || pool === key.slice(first + 1, last)) &&
    (device === null || device === key.slice(last + 1))
  );
}

/** Devices with the UUID of their sibling, kept so that an unchanged device yields the same object. */
const siblings = new WeakMap<DraDevice, DraDevice>();

function renamed(device: DraDevice, gpuUuid: string): DraDevice {
  const known = siblings.get(device);
  if (known?.gpuUuid === gpuUuid) return known;
  const made = { ...device, gpuUuid };
  siblings.set(device, made);
  return made;
}

/** A device of a slice, with its key among all devices. */
export interface NamedDraDevice {
  readonly key: string;
  readonly device: DraDevice;
}

function readSlice(slice: ResourceSlice): readonly NamedDraDevice[] {
  const { nodeName } = slice;
  if (nodeName === null) return [];
  return slice.devices.flatMap((named) => {
    const device = readDevice(slice, nodeName, named);
    return device === null ? [] : [{ key: draDeviceKey(slice.driver, slice.pool, named.name), device }];
  });
}

function currentPools(slices: readonly ResourceSlice[]): readonly (readonly ResourceSlice[])[] {
  const generations = Map.groupBy(slices, (slice) => `${slice.driver}/${slice.pool}`);
  const current: (readonly ResourceSlice[])[] = [];
  for (const pool of generations.values()) {
    const byGeneration = [...Map.groupBy(pool, (slice) => slice.poolGeneration)].sort(([a], [b]) => b - a);
    const complete = byGeneration.find(([, group]) => group.length >= (group[0]?.poolSliceCount ?? 1));
    const chosen = complete ?? byGeneration[0];
    if (chosen !== undefined) current.push(chosen[1]);
  }
  return current;
}

/** Attribute `type` of GPUs: those of NVIDIA's driver, and the last one of HAMi's, whose claims consume cores and memory. */
const gpuTypes: ReadonlySet<string> = new Set(["gpu", "mig", "vfio", "hami-gpu"]);

function readDevice(slice: ResourceSlice, node: string, device: SliceDevice): DraDevice | null {
  const type = text(device, "type");
  const isGpu = gpuTypes.has(type ?? "");
  if (!isGpu && !(slice.driver === nvidiaDraDriver && type === null && device.name.startsWith("gpu-"))) return null;
  const isMig = type === "mig" || text(device, "parentUUID") !== null;
  const uuid = text(device, "uuid");
  const pciAddress =
    text(device, "resource.kubernetes.io/pciBusID") ?? text(device, "pciBusID") ?? text(device, "pcieBusID");
  return {
    node,
    gpuUuid: isMig ? text(device, "parentUUID") : (uuid ?? pciAddress),
    migUuid: isMig ? uuid : null,
    profile: isMig ? text(device, "profile") : null,
    model: canonicalModel(text(device, "productName")),
    memoryBytes: device.capacity.memory ?? null,
    capacity: device.capacity,
    pciAddress,
    migSlots: isMig && device.memorySlices.length > 0 ? device.memorySlices : null,
    tainted: device.taints.some(keepsAway),
    taintCause: taintCause(device.taints.filter(keepsAway)),
  };
}

/** The taints of NVIDIA's DRA driver say more than that the device is bad: which XID error it had, or that it is lost. */
function taintCause(taints: readonly Taint[]): UnavailableCause | null {
  const own = taints.map(({ key, value }) => {
    if (key === "gpu.nvidia.com/gpu-lost") return "gpu_lost";
    return key === "gpu.nvidia.com/xid" ? xidCauseOf(Number(value)) : null;
  });
  const lost = own.find((cause) => cause === "gpu_lost");
  return taints.length === 0 ? null : (lost ?? own.find((cause) => cause !== null) ?? "taint");
}

function text(device: SliceDevice, attribute: string): string | null {
  const value = device.attributes[attribute];
  return typeof value === "string" && value !== "" ? value : null;
}

/** The MIG devices of each node that claims have been given. */
export function allocatedMigByNode(
  claims: readonly ResourceClaim[],
  draDevices: DraDevices,
): ReadonlyMap<string, readonly DraDevice[]> {
  const seen = new Map<string, DraDevice>();
  for (const claim of claims) {
    for (const result of claim.allocated) {
      const key = draDeviceKey(result.driver, result.pool, result.device);
      const device = draDevices.get(key);
      if (device !== undefined && device.profile !== null && !result.adminAccess) seen.set(key, device);
    }
  }
  const inOrder = [...seen].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, device]) => device);
  return Map.groupBy(inOrder, (device) => device.node);
}
