/** How a node is paid for. */
export const capacityTypes = ["on-demand", "spot", "reserved"] as const;

export type CapacityType = (typeof capacityTypes)[number];
