import { child, type Place } from "../fields.ts";

const timeStamp = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/;

/**
 * The time stamp (RFC 3339) in an annotation, seconds since the epoch. Annotations are free text that no API server
 * checks: what is no time stamp counts as absent, so that nobody can have an object left out by writing nonsense.
 */
export function annotationTime(object: Place, name: string): number | null {
  return parseTimeStamp(annotation(object, name));
}

/** The text of an annotation; `null` where it is absent. */
export function annotation(object: Place, name: string): string | null {
  const annotations = child(child(object, "metadata"), "annotations").value;
  const found = Object.hasOwn(annotations, name) ? annotations[name] : undefined;
  return typeof found === "string" ? found : null;
}

/** Seconds since the epoch; `null` for text that is no time stamp. */
export function parseTimeStamp(text: string | null): number | null {
  if (text === null || !timeStamp.test(text)) return null;
  const milliseconds = Date.parse(text);
  return Number.isNaN(milliseconds) ? null : milliseconds / 1000;
}
