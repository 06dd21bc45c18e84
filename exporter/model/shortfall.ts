/**
 * Why a queue misses GPUs: others hold them, they are free, what it is guaranteed is on no node, or no whole gang fits into what
 * is left or a setting keeps it where it is.
 */
export const shortfallCauses = ["by_others", "idle_gap", "absent_capacity", "indivisible"] as const;

/** Why a guarantee has no nodes. */
export const absentOwners = ["lost_node", "node_to_come", "past_queues", "promised_twice"] as const;

export type AbsentOwner = (typeof absentOwners)[number];
