import type { ObjectRevision } from "../../../model/queues/objectRevision.ts";
import { child, number, type Place, text } from "../fields.ts";

/** The revision of an object that was read; `null` if it has none, as in hand-written files. */
export function revisionOf(object: Place): ObjectRevision | null {
  const metadata = child(object, "metadata");
  const uid = text(metadata, "uid") ?? "";
  const apiVersion = text(object, "apiVersion") ?? "";
  if (uid === "" || apiVersion === "") return null;
  return { apiVersion, uid, generation: number(metadata, "generation") };
}
