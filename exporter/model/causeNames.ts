import type { HealthCause } from "./gpuFaults.ts";

/** Why GPUs cannot be used, or are slower than they could be, in the words that people read. */
export const causeNames: Readonly<Record<HealthCause, string>> = {
  node: "its node is not ready",
  driver: "nothing on its node offers its GPUs",
  gpu_lost: "the GPU is lost from the bus",
  ecc: "a memory error",
  remap_failed: "a row of its memory could not be remapped",
  remap_pending: "a row of its memory is remapped at the next reset",
  nvlink: "an NVLink fault",
  gpu_reset: "a fault that a reset cures",
  xid_other: "another XID error",
  taint: "a taint on the device",
  pod_status: "the kubelet reports it as unhealthy",
  dcgm_health: "DCGM's own check fails",
  unknown: "not known",
  thermal: "slowed down by heat",
  power: "slowed down by a power brake",
  hardware_slowdown: "slowed down by its hardware",
};
