/** Faults of a GPU itself, as its last XID error, the taint of its driver or its row remapping names them. */
const ownFaults = ["gpu_lost", "ecc", "remap_failed", "remap_pending", "nvlink", "gpu_reset", "xid_other"] as const;

/**
 * Why GPU time was `unavailable`; every second of that state has exactly one of these causes. `node`: its node was not ready;
 * `driver`: nothing on the node offers its GPUs; `gpu_lost` to `xid_other`: the GPU itself is at fault, as its last XID error,
 * the taint of its driver, or its row remapping shows; `taint`: a taint that gives no further reason; `pod_status`: the kubelet
 * reports the GPU as unhealthy to its pod; `dcgm_health`: DCGM's own check fails; `unknown`: fewer GPUs are offered than there
 * are, and nothing shows why.
 */
export const unavailableCauses = [
  "node",
  "driver",
  ...ownFaults,
  "taint",
  "pod_status",
  "dcgm_health",
  "unknown",
] as const;

export type UnavailableCause = (typeof unavailableCauses)[number];

/**
 * Why GPUs that work are slower than they could be, by their clock event reasons. A software power cap at full load is not one.
 */
export const degradedCauses = ["thermal", "power", "hardware_slowdown"] as const;

export type DegradedCause = (typeof degradedCauses)[number];

/** The cause to which a second of GPU time may be attributed; the two lists have no value in common. */
export type HealthCause = UnavailableCause | DegradedCause;

export const healthCauses = [...unavailableCauses, ...degradedCauses] as const;

/** How soon a GPU needs care: work on it will fail, it waits for repair, or it may get worse. */
export const careTiers = ["drain", "today", "watch"] as const;

export type CareTier = (typeof careTiers)[number];

/** What an XID error is about: the application, which is no fault of the GPU, or a part of the GPU. */
export const xidClasses = ["application", ...ownFaults] as const;

export type XidClass = (typeof xidClasses)[number];

/**
 * What XID errors of the application are about: `exception`, one of an engine (13, 69); `memory_fault`, a memory address that
 * is not the program's own (31); `stopped`, work that was ended or cleaned up after (43, 45); and `other` (8, 32, 68).
 */
export const applicationErrors = ["exception", "memory_fault", "stopped", "other"] as const;

/** Why a program failed: the error of the application that a GPU of its pod showed then; `unknown`: no error was seen. */
export const failureErrors = [...applicationErrors, "unknown"] as const;

export type FailureError = (typeof failureErrors)[number];

export type ApplicationError = (typeof applicationErrors)[number];

const applicationCodes: Readonly<Record<ApplicationError, readonly number[]>> = {
  exception: [13, 69],
  memory_fault: [31],
  stopped: [43, 45],
  other: [8, 32, 68],
};

/** Returns what an XID error of the application is about; `null` for all other errors. */
export function applicationErrorOf(code: number): ApplicationError | null {
  return applicationErrors.find((name) => applicationCodes[name].includes(code)) ?? null;
}

/**
 * XID errors by NVIDIA's catalog for Ampere and newer (as of 2025-10), grouped by what they show about the GPU. 154 only names
 * the action to take for another error, so it is not a fault of its own.
 */
const codesOf: Readonly<Record<Exclude<XidClass, "xid_other">, readonly number[]>> = {
  application: Object.values(applicationCodes).flat(),
  gpu_lost: [79],
  ecc: [48, 92, 94, 95, 140, 171, 172],
  remap_failed: [64],
  remap_pending: [63],
  nvlink: [74, 121, 144, 145, 146, 147, 148, 149, 150, 155],
  gpu_reset: [46, 62, 109, 110, 119, 120, 136, 143, 151, 156, 158],
};

const noFault: ReadonlySet<number> = new Set([0, 154]);

const classOfCode = new Map<number, XidClass>(
  xidClasses.flatMap((name) => (name === "xid_other" ? [] : codesOf[name].map((code) => [code, name] as const))),
);

/** Returns the class of an XID error; `null` for 0 and for codes that are no error of their own. */
export function xidClassOf(code: number | null): XidClass | null {
  if (code === null || noFault.has(code)) return null;
  return classOfCode.get(code) ?? "xid_other";
}

/** Returns what an XID error shows about a GPU that cannot be used; `null` where it concerns the application alone. */
export function xidCauseOf(code: number | null): Exclude<XidClass, "application"> | null {
  const found = xidClassOf(code);
  return found === "application" ? null : found;
}
