/** How a pod is placed in its gang: the pods that must run together. */
export interface GangView {
  readonly id: string;
  readonly min: number;
  /** Bound, running or succeeded members. */
  readonly bound: number;
  /** Since when the gang has been partly bound; `null` when it is whole or not started. */
  readonly partialSince: number | null;
  /** While it is partial: it ran before and has lost a member since. Absent: it waits to begin. */
  readonly hasLostMember?: true;
  /** The object for which a native gang was made, as its Workload says: `Job research/train`. Absent: nobody says so. */
  readonly controller?: string;
}
