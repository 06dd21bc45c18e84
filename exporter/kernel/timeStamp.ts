const timeStamp = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/;

/** A time stamp (RFC 3339) in seconds since the epoch; `null` for text that is none. */
export function parseTimeStamp(text: string | null | undefined): number | null {
  if (text === null || text === undefined || !timeStamp.test(text)) return null;
  const milliseconds = Date.parse(text);
  return Number.isNaN(milliseconds) ? null : milliseconds / 1000;
}
