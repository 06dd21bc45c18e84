import type { Holding } from "./snapshot.ts";

/** Whether nobody knows that a holding is on this device, or with how much: more than the split of its activity is estimated. */
export const isOnUnknownDevice = ({ estimated, isSplitAlone }: Pick<Holding, "estimated" | "isSplitAlone">): boolean =>
  estimated && isSplitAlone !== true;
