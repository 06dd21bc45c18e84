/**
 * What a recommendation asks for. `do`: every guard allows it, and its steps are commands. `ask`: only the owner of the work
 * can say whether it may be done: it has questions instead of steps. `watch`: a signal is missing or in doubt, and must be
 * repaired before its values can be trusted.
 */
export const adviceActs = ["do", "ask", "watch"] as const;

export type AdviceAct = (typeof adviceActs)[number];

/** A question to the owner of work, instead of a step. */
export interface OwnerQuestion {
  /** Who can answer: a team. */
  readonly to: string;
  /** `Kind namespace/name` of the work that the question is about. */
  readonly about: string;
  /** The question, in one sentence. */
  readonly question: string;
  /**
   * What the owner should know, in sentences: since when the work is idle, what it costs, what would be lost, and what it did
   * before.
   */
  readonly facts: readonly string[];
}

/** How often idle work like this began to work again by itself, and what follows for the work of a recommendation. */
export interface WorkHabit {
  /** Idle spells of its own that lasted as long as its idle time now, or longer, and how many of them ended in work. */
  readonly spells: number;
  readonly returns: number;
  /**
   * Of the spells that ended in work: how long after this length of idle time they did, as a median in seconds; `null` if there
   * are none.
   */
  readonly medianReturnSeconds: number | null;
  /** Probability that it works again within the horizon, 0..1. */
  readonly returnProbability: number;
  /** For how much longer it is expected to stay idle within the horizon, hours. */
  readonly expectedIdleHours: number;
  /** What these two estimates mostly rest on: the work's own past, that of all work of the cluster, or a published trace. */
  readonly basis: "own" | "cluster" | "published";
}
