/** GPUs by which two amounts may differ and still be the same: what rounding leaves of sums of parts. Physical GPUs. */
export const gpuTolerance = 1e-6;
