/**
 * Why a queue lacks GPUs: others hold them, they are free, its guarantee has no nodes, or no whole gang fits into the rest or
 * a setting prevents a move.
 */
export const shortfallCauses = ["by_others", "idle_gap", "absent_capacity", "indivisible"] as const;

/** Why a guarantee has no nodes. */
export const absentOwners = ["lost_node", "node_to_come", "past_queues", "promised_twice"] as const;

export type AbsentOwner = (typeof absentOwners)[number];
