import type { Device, NodeView, Snapshot } from "../../join/snapshot.ts";
import { type DegradedCause, type UnavailableCause, xidCauseOf } from "../../model/gpuFaults.ts";
import type { DeviceReading } from "../../model/telemetry.ts";

/** The value of DCGM_HEALTH_RESULT_FAIL; that of a warning is 10. */
export const dcgmFails = 20;

/**
 * Why a device is unhealthy. The objects show that it is; telemetry only shows why, because the last XID error stays on the
 * page until the exporter restarts, and so proves nothing by itself.
 */
export function unhealthyCause(device: Device, node: NodeView, devices: Snapshot["devices"]): UnavailableCause {
  const { fault, reading } = device;
  if (fault !== null && fault !== "taint" && fault !== "pod_status") return fault;
  return (
    causeInReading(reading) ??
    (device.uuid !== null && reading === null && showsOthers(node, devices) ? "gpu_lost" : null) ??
    fault ??
    causeOnNode(device, node, devices) ??
    "unknown"
  );
}

/** The cause that a page shows for a GPU that cannot be used. */
function causeInReading(reading: DeviceReading | null): UnavailableCause | null {
  if (reading === null) return null;
  const { lastXid, rowRemapFailure, rowRemapPending, dcgmHealth } = reading;
  const byXid = xidCauseOf(lastXid);
  if (byXid !== null && byXid !== "xid_other") return byXid;
  if ((rowRemapFailure ?? 0) > 0) return "remap_failed";
  if ((rowRemapPending ?? 0) > 0) return "remap_pending";
  return byXid ?? ((dcgmHealth ?? 0) >= dcgmFails ? "dcgm_health" : null);
}

/** Whether the node's page has rows, but none of this GPU. */
function showsOthers({ devices: own }: NodeView, devices: Snapshot["devices"]): boolean {
  return own.some((index) => (devices[index]?.reading ?? null) !== null);
}

/**
 * The cause on another GPU of the node: where the API only counts GPUs, the missing one may be one that shows an error of its
 * own.
 */
function causeOnNode(
  device: Device,
  { devices: own }: NodeView,
  devices: Snapshot["devices"],
): UnavailableCause | null {
  if (device.fault !== null) return null;
  for (const index of own) {
    const other = devices[index];
    const cause = other === undefined || other.unhealthy ? null : causeInReading(other.reading);
    if (cause !== null) return cause;
  }
  return null;
}

const hardwareSlowdown = 0x8;
const softwareThermal = 0x20;
const hardwareThermal = 0x40;
const powerBrake = 0x80;

/** Why a GPU runs slower than it could, by its clock event reasons; `null`: it does not, or nothing shows why. */
export function degradedCause(reading: DeviceReading | null): DegradedCause | null {
  const bits = reading?.clockEventReasons ?? 0;
  if (!Number.isInteger(bits) || bits <= 0 || bits > 0xffff_ffff) return null;
  if ((bits & (softwareThermal | hardwareThermal)) !== 0) return "thermal";
  if ((bits & powerBrake) !== 0) return "power";
  return (bits & hardwareSlowdown) !== 0 ? "hardware_slowdown" : null;
}
