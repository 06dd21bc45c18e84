import { parseTimeStamp } from "../../../kernel/timeStamp.ts";
import { checkpointAnnotations } from "../../../model/wellKnown.ts";
import { child, type Place } from "../fields.ts";

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

/** The last checkpoint that an object reports, seconds since the epoch; `null` if it reports none. */
export function checkpointTime(object: Place): number | null {
  let latest: number | null = null;
  for (const name of checkpointAnnotations) {
    const at = annotationTime(object, name);
    if (at !== null && (latest === null || at > latest)) latest = at;
  }
  return latest;
}
