/**
 * Why a queue lacks GPUs: others hold them (`by_others`); they are free (`idle_gap`); its guarantee has no nodes
 * (`absent_capacity`); or no whole gang fits into the rest, or a setting prevents a move (`indivisible`).
 */
export const shortfallCauses = ["by_others", "idle_gap", "absent_capacity", "indivisible"] as const;

/** Why a guarantee has no nodes. */
export const absentOwners = ["lost_node", "node_to_come", "past_queues", "promised_twice"] as const;

export type AbsentOwner = (typeof absentOwners)[number];
