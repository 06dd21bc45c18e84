/** The day (UTC) of a time in seconds since the epoch: `2026-11-21`. */
export function isoDay(seconds: number): string {
  return new Date(seconds * 1000).toISOString().slice(0, 10);
}

/** A time in seconds since the epoch: `2026-11-21T07:00:00Z`. */
export function isoTime(seconds: number): string {
  return `${new Date(seconds * 1000).toISOString().slice(0, 19)}Z`;
}

/** The minute of a text that `isoTime` wrote, for people to read: `2026-11-21 07:00`. */
export function shownMinute(iso: string): string {
  return iso.slice(0, 16).replace("T", " ");
}

const timeStamp = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/;

/** A time stamp (RFC 3339) in seconds since the epoch; `null` for any other text. */
export function parseTimeStamp(text: string | null | undefined): number | null {
  if (text === null || text === undefined || !timeStamp.test(text)) return null;
  const milliseconds = Date.parse(text);
  return Number.isNaN(milliseconds) ? null : milliseconds / 1000;
}
