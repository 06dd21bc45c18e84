import type { ResourceSlice, SliceDevice } from "../../model/cluster.ts";
import { type Decoded, decodeObject } from "./decoded.ts";
import { child, fault, has, isRecord, items, number, type Place, text } from "./fields.ts";
import { memorySliceOf } from "./memorySlices.ts";
import { parseQuantity } from "./quantity.ts";
import { taints } from "./taints.ts";

/**
 * A ResourceSlice (`resource.k8s.io`) as a model record. v1 and v1beta2 have attributes and capacity on the device,
 * v1beta1 below `basic`; a capacity is `{value}`, in the oldest objects a bare quantity. All three forms are read
 * whatever the object calls itself, since files may have been converted by hand.
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

/** The name without its domain, where the domain is the driver's own, which is what a bare name means. */
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
    // Any other type (lists of newer versions) is not one that Fairlead reads.
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

/** Of the sets of counters that it draws from, only memory slices are read. */
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
