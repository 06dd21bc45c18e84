/** Sizes of pods, in whole GPUs, for which the number that could still be placed is known. */
export const placedSizes = [1, 2, 4, 8] as const;

export type PlacedSize = (typeof placedSizes)[number];

/** The same sizes as texts, for labels and documents. */
export const placedSizeNames = ["1", "2", "4", "8"] as const;

export type PlacedSizeName = (typeof placedSizeNames)[number];
