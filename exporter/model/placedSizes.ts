/** Sizes of pods, in whole GPUs, for which it is told how many more could be placed. */
export type PlacedSizeName = "1" | "2" | "4" | "8";
