/** Physical GPUs by which two amounts may differ and still be equal: rounding makes sums of parts differ by this little. */
export const gpuTolerance = 1e-6;
