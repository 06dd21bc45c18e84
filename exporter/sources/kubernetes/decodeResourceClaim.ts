import type { AllocatedDevice, DeviceRequest, ResourceClaim } from "../../model/cluster.ts";
import { type Decoded, decodeObject } from "./decoded.ts";
import { child, flag, has, items, number, type Place, text, textItems } from "./fields.ts";
import { amounts } from "./textMap.ts";

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

/** v1 and v1beta2 have the one device in `exactly`, v1beta1 in the request itself; alternatives are in `firstAvailable`. */
function deviceRequest(request: Place): DeviceRequest {
  const alternatives = items(request, "firstAvailable");
  const wanted =
    alternatives.length > 0 ? alternatives : [has(request, "exactly") ? child(request, "exactly") : request];
  const counts = new Set(
    wanted.map((one) => (text(one, "allocationMode") === "All" ? null : (number(one, "count") ?? 1))),
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
