import { isRecord } from "../../kernel/parseJson.ts";
import { parseQuantity } from "../../kernel/quantity.ts";
import type {
  AllocatedDevice,
  DeviceRequest,
  DeviceTaintRule,
  ResourceClaim,
  ResourceSlice,
  SliceDevice,
} from "../../model/cluster.ts";
import { amounts } from "./boundedFields.ts";
import { type Decoded, decodeObject } from "./decoded.ts";
import { child, fault, flag, has, items, number, type Place, text, textItems } from "./fields.ts";
import { taintOf, taints } from "./nodeRules.ts";

/** The limit on the number of a memory slice: no GPU has this many. */
const mostSlices = 32;

/**
 * The memory slice of a MIG GPU that the name of a capacity or counter of NVIDIA's DRA driver denotes, from 0: capacity
 * `memorySlice3` of an instance that exists, counter `memory-slice-3` of one that a partitionable GPU may be divided into
 * (cmd/gpu-kubelet-plugin/deviceinfo.go and partitions.go of dra-driver-nvidia-gpu). `null` for any other name.
 */
export function memorySliceOf(name: string): number | null {
  const digits = /^memory(?:Slice|-slice-)(\d{1,2})$/.exec(name)?.[1];
  return digits === undefined || Number(digits) >= mostSlices ? null : Number(digits);
}

/** A ResourceClaim (`resource.k8s.io` v1, v1beta2 or v1beta1, whose status is the same) as a model record. */
export function decodeResourceClaim(value: unknown): Decoded<ResourceClaim> {
  return decodeObject("ResourceClaim", value, (object, meta) => {
    const status = child(object, "status");
    const allocation = child(status, "allocation");
    return {
      namespace: meta.namespace,
      name: meta.name,
      uid: meta.uid,
      requests: items(child(child(object, "spec"), "devices"), "requests").map(deviceRequest),
      allocated: items(child(allocation, "devices"), "results").map(allocatedDevice),
      reservedForPods: items(status, "reservedFor").flatMap(podUid),
      nodeName: pinnedNode(child(allocation, "nodeSelector")),
    };
  });
}

/**
 * A request of a claim. v1 and v1beta2 have the one device in `exactly`, v1beta1 in the request itself; alternatives are in
 * `firstAvailable`.
 */
function deviceRequest(request: Place): DeviceRequest {
  const alternatives = items(request, "firstAvailable");
  const wanted =
    alternatives.length > 0 ? alternatives : [has(request, "exactly") ? child(request, "exactly") : request];
  const counts = new Set(
    wanted.map((one) => {
      const isWhole = Object.keys(child(child(one, "capacity"), "requests").value).length === 0;
      return text(one, "allocationMode") === "All" || !isWhole ? null : (number(one, "count") ?? 1);
    }),
  );
  const [count = null] = counts;
  return {
    deviceClasses: wanted.map((one) => text(one, "deviceClassName") ?? ""),
    count: counts.size === 1 ? count : null,
    adminAccess: wanted.some((one) => flag(one, "adminAccess")),
  };
}

function allocatedDevice(result: Place): AllocatedDevice {
  return {
    request: text(result, "request") ?? "",
    driver: text(result, "driver") ?? "",
    pool: text(result, "pool") ?? "",
    device: text(result, "device") ?? "",
    adminAccess: flag(result, "adminAccess"),
    shareId: text(result, "shareID"),
    consumedCapacity: amounts(result, "consumedCapacity", () => true),
  };
}

function podUid(consumer: Place): readonly string[] {
  const uid = text(consumer, "uid");
  const isPod = text(consumer, "resource") === "pods" && (text(consumer, "apiGroup") ?? "") === "";
  return isPod && uid !== null ? [uid] : [];
}

/** The one node that a selector allows by name, as the scheduler writes it for devices of a node. */
function pinnedNode(selector: Place): string | null {
  const terms = items(selector, "nodeSelectorTerms");
  const [term] = terms;
  if (term === undefined || terms.length > 1) return null;
  for (const field of items(term, "matchFields")) {
    const names = textItems(field, "values");
    const isName = text(field, "key") === "metadata.name" && text(field, "operator") === "In";
    if (isName && names.length === 1) return names[0] ?? null;
  }
  return null;
}

/**
 * A ResourceSlice (`resource.k8s.io`) as a model record. v1 and v1beta2 have attributes and capacity on the device, v1beta1
 * below `basic`; a capacity is `{value}`, in the oldest objects a bare quantity. All three forms are read whatever the
 * `apiVersion` of the object is, since files may have been converted by hand.
 */
export function decodeResourceSlice(value: unknown): Decoded<ResourceSlice> {
  return decodeObject("ResourceSlice", value, (object, meta) => {
    const spec = child(object, "spec");
    const pool = child(spec, "pool");
    const driver = text(spec, "driver") ?? "";
    return {
      name: meta.name,
      driver,
      pool: text(pool, "name") ?? "",
      poolGeneration: number(pool, "generation") ?? 0,
      poolSliceCount: number(pool, "resourceSliceCount") ?? 1,
      nodeName: text(spec, "nodeName"),
      devices: items(spec, "devices").map((device) => sliceDevice(device, driver)),
    };
  });
}

function sliceDevice(device: Place, driver: string): SliceDevice {
  const body = has(device, "basic") ? child(device, "basic") : device;
  const capacities = capacity(child(body, "capacity"), driver);
  return {
    name: text(device, "name") ?? "",
    attributes: attributes(child(body, "attributes"), driver),
    capacity: capacities,
    memorySlices: memorySlices(body, capacities),
    taints: taints(body, "taints"),
  };
}

/** The name without its domain if that is the driver's own: a bare name means the same. */
function shortName(name: string, driver: string): string {
  return driver !== "" && name.startsWith(`${driver}/`) ? name.slice(driver.length + 1) : name;
}

function attributes(place: Place, driver: string): SliceDevice["attributes"] {
  const copy: Record<string, string | number | boolean> = Object.create(null);
  for (const name of Object.keys(place.value)) {
    if (name === "__proto__") continue;
    const found = child(place, name).value;
    const value = found.string ?? found.version ?? found.int ?? found.bool;
    if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") {
      copy[shortName(name, driver)] = value;
    }
    // Any other type (such as the lists of newer versions) is not read by Fairlead.
  }
  return copy;
}

function capacity(place: Place, driver: string): SliceDevice["capacity"] {
  const copy: Record<string, number> = Object.create(null);
  for (const name of Object.keys(place.value)) {
    if (name === "__proto__") continue;
    const found = place.value[name];
    const amount = parseQuantity(isRecord(found) ? found.value : found);
    if (amount === null) fault(place, name, 'a quantity, or an object with one in "value"');
    else copy[shortName(name, driver)] = amount;
  }
  return copy;
}

const noSlices: readonly number[] = [];

/** The memory slices that a device consists of or draws from, by its capacities and counters. Other counters are not read. */
function memorySlices(body: Place, capacities: SliceDevice["capacity"]): readonly number[] {
  const found = new Set<number>();
  const add = (name: string, amount: number): void => {
    const slice = memorySliceOf(name);
    if (slice !== null && amount > 0) found.add(slice);
  };
  for (const name of Object.keys(capacities)) add(name, capacities[name] ?? 0);
  for (const set of items(body, "consumesCounters")) {
    const counters = child(set, "counters");
    for (const name of Object.keys(counters.value)) {
      const counter = counters.value[name];
      if (memorySliceOf(name) === null) continue;
      const amount = parseQuantity(isRecord(counter) ? counter.value : counter);
      if (amount === null) fault(counters, name, 'an object with a quantity in "value"');
      else add(name, amount);
    }
  }
  return found.size === 0 ? noSlices : [...found].sort((a, b) => a - b);
}

/**
 * A DeviceTaintRule (`resource.k8s.io` v1, v1beta2 or v1alpha3) as a model record. Rules of the first v1alpha3 could select by
 * class and by expressions. It is not known what they select, so they taint nothing here.
 */
export function decodeDeviceTaintRule(value: unknown): Decoded<DeviceTaintRule> {
  return decodeObject("DeviceTaintRule", value, (object, meta) => {
    const spec = child(object, "spec");
    const selector = child(spec, "deviceSelector");
    const isOdd = text(selector, "deviceClassName") !== null || items(selector, "selectors").length > 0;
    return {
      name: meta.name,
      driver: text(selector, "driver"),
      pool: text(selector, "pool"),
      device: text(selector, "device"),
      taint: isOdd ? null : taintOf(child(spec, "taint")),
    };
  });
}
