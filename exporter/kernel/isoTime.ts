/** The day (UTC) of a time in seconds since the epoch: `2026-11-21`. */
export function isoDay(seconds: number): string {
  return new Date(seconds * 1000).toISOString().slice(0, 10);
}

/** A time in seconds since the epoch: `2026-11-21T07:00:00Z`. */
export function isoTime(seconds: number): string {
  return `${new Date(seconds * 1000).toISOString().slice(0, 19)}Z`;
}

/** The minute of such a text as people read it: `2026-11-21 07:00`. */
export function shownMinute(iso: string): string {
  return iso.slice(0, 16).replace("T", " ");
}
