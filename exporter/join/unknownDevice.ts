import type { Holding } from "./snapshot.ts";

/**
 * Whether it is not known that a holding is on this device, or with which share: more than the split of its activity is
 * estimated.
 */
export const isOnUnknownDevice = ({ estimated, isSplitAlone }: Pick<Holding, "estimated" | "isSplitAlone">): boolean =>
  estimated && isSplitAlone !== true;
