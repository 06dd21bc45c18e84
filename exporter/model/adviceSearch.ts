// Needed for the goal `advice-contended` (docs/performance.md).

/** How far the search for advice is: a large cluster is searched in several cycles. */
export interface AdviceSearch {
  /** The moment that was searched last, seconds since the epoch. */
  readonly at: number;
  /** Whether a later moment is being searched. */
  readonly isGoingOn: boolean;
  /** Needs whose plans hold no more, and which wait for the next search. */
  readonly waiting: number;
}
