/** A condition of an object's status. Reason and message are bounded in length, and untrusted text. */
export interface Condition {
  readonly type: string;
  /** Whether the status is `True`; `Unknown` counts as false. */
  readonly isTrue: boolean;
  readonly reason: string;
  readonly message: string;
  /** `lastTransitionTime`, seconds since the epoch; `null` when the object has none. */
  readonly changedAt: number | null;
}
