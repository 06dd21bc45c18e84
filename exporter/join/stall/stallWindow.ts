/** Every sample of a device since a moment looked busy and computed nothing. */
export interface Stall {
  /** The time of the first of these samples, seconds since the epoch. */
  readonly since: number;
  /** Since when there has been no sample; `null` while there is one. */
  readonly unseenSince: number | null;
}

/** Lost scrapes end no window; after this long it is unknown what the GPU did in between. */
const unseenLimitSeconds = 5 * 60;

/** What is known after a sample; `null` as the sample: none came, because the page was lost or is implausible. */
export function stallAfter(before: Stall | null, sample: boolean | null, at: number): Stall | null {
  if (sample === false) return null;
  if (before === null) return sample === null ? null : { since: at, unseenSince: null };
  const { since, unseenSince } = before;
  if (sample === null) {
    if (unseenSince === null) return { since, unseenSince: at };
    return at - unseenSince > unseenLimitSeconds ? null : before;
  }
  // Without an age limit of its own, a GPU could be unseen for hours between two samples.
  if (unseenSince !== null && at - unseenSince > unseenLimitSeconds) return { since: at, unseenSince: null };
  return unseenSince === null ? before : { since, unseenSince: null };
}
