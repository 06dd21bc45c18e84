import type { DeviceReading, TelemetryClaimant, TelemetryPage } from "../../exporter/model/telemetry.ts";

/** The reading of a whole GPU that says only how busy it is (0 to 1): the traces have no other signal. */
export const blankReading = (uuid: string, activity: number): DeviceReading => ({
  uuid,
  gpuInstance: null,
  profile: null,
  migUuid: null,
  modelName: "",
  gpuIndex: null,
  gpuUtil: activity,
  grEngineActive: null,
  smActive: null,
  dramActive: null,
  tensorActive: null,
  pipeActive: null,
  memoryCopyUtil: null,
  movedBytesPerSecond: null,
  encoderUtil: null,
  decoderUtil: null,
  memoryUsedBytes: null,
  memoryTotalBytes: null,
  powerWatts: null,
  powerLimitWatts: null,
  clockEventReasons: null,
  energyJoules: null,
  temperatureCelsius: null,
  lastXid: null,
  rowRemapPending: null,
  rowRemapFailure: null,
  dcgmHealth: null,
  virtualSlots: 0,
  claimants: [],
});

/** What a row of the exporter says about the pod that has the GPU. */
export const claimantOf = (namespace: string, pod: string): TelemetryClaimant => ({
  namespace,
  pod,
  podUid: null,
  container: null,
  slots: 1,
  processUtil: null,
  processMemoryBytes: null,
  claim: null,
});

/** The page of a node's exporter. */
export const pageOfNode = (node: string, devices: readonly DeviceReading[], receivedAt: number): TelemetryPage => ({
  target: `http://${node}:9400/metrics`,
  node,
  hostLabel: node,
  receivedAt,
  devices,
  dropped: {},
});
