// Needed for the goal `gpu-bytes` (docs/performance.md).

import type { DeviceReading } from "./telemetry.ts";

/** A copy of a reading with other values for some of its properties. The reading may be a view of columns. */
export function changedReading(reading: DeviceReading, changes: Partial<DeviceReading>): DeviceReading {
  const { podProcesses } = reading;
  return {
    uuid: reading.uuid,
    gpuInstance: reading.gpuInstance,
    profile: reading.profile,
    migUuid: reading.migUuid,
    modelName: reading.modelName,
    gpuIndex: reading.gpuIndex,
    gpuUtil: reading.gpuUtil,
    grEngineActive: reading.grEngineActive,
    smActive: reading.smActive,
    dramActive: reading.dramActive,
    tensorActive: reading.tensorActive,
    pipeActive: reading.pipeActive,
    memoryCopyUtil: reading.memoryCopyUtil,
    movedBytesPerSecond: reading.movedBytesPerSecond,
    encoderUtil: reading.encoderUtil,
    decoderUtil: reading.decoderUtil,
    memoryUsedBytes: reading.memoryUsedBytes,
    memoryTotalBytes: reading.memoryTotalBytes,
    powerWatts: reading.powerWatts,
    powerLimitWatts: reading.powerLimitWatts,
    clockEventReasons: reading.clockEventReasons,
    energyJoules: reading.energyJoules,
    temperatureCelsius: reading.temperatureCelsius,
    lastXid: reading.lastXid,
    rowRemapPending: reading.rowRemapPending,
    rowRemapFailure: reading.rowRemapFailure,
    dcgmHealth: reading.dcgmHealth,
    virtualSlots: reading.virtualSlots,
    claimants: reading.claimants,
    ...(podProcesses === undefined ? {} : { podProcesses }),
    ...changes,
  };
}
