/** More memory slices than any GPU has; a higher number is not read. */
const mostSlices = 32;

/**
 * The memory slice of a MIG GPU that a capacity or counter of NVIDIA's DRA driver means, from 0: capacity `memorySlice3` of an
 * instance that exists, counter `memory-slice-3` of one that a partitionable GPU may be cut into
 * (cmd/gpu-kubelet-plugin/deviceinfo.go and partitions.go of dra-driver-nvidia-gpu). `null` for any other name.
 */
export function memorySliceOf(name: string): number | null {
  const digits = /^memory(?:Slice|-slice-)(\d{1,2})$/.exec(name)?.[1];
  return digits === undefined || Number(digits) >= mostSlices ? null : Number(digits);
}
