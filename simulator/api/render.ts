import { apiVersionOf, type KindInfo } from "./kinds.ts";
import type { StoredObject } from "./store.ts";

/** How an object is written: whole, or only its metadata. */
export type Rendering = "object" | "metadata";

const texts = new WeakMap<StoredObject, { object?: string; metadata?: string }>();

/** The object's JSON without kind and apiVersion. It is kept, because objects are immutable. */
function bodyOf(stored: StoredObject, rendering: Rendering): string {
  const known = texts.get(stored) ?? {};
  texts.set(stored, known);
  if (rendering === "metadata") {
    known.metadata ??= JSON.stringify({ metadata: stored.object.metadata });
    return known.metadata;
  }
  known.object ??= JSON.stringify(stored.object);
  return known.object;
}

/** An object with its kind, as GET and watch events carry it. */
export function objectText(info: KindInfo, stored: StoredObject, rendering: Rendering): string {
  const [kind, apiVersion] =
    rendering === "metadata" ? ["PartialObjectMetadata", "meta.k8s.io/v1"] : [info.kind, apiVersionOf(info)];
  return `{"kind":"${kind}","apiVersion":"${apiVersion}",${bodyOf(stored, rendering).slice(1)}`;
}

/** An object as an item of a list: built-in kinds leave kind and apiVersion out there. */
export function itemText(info: KindInfo, stored: StoredObject, rendering: Rendering): string {
  return info.custom || rendering === "metadata" ? objectText(info, stored, rendering) : bodyOf(stored, rendering);
}

/** The rendering that the Accept header asks for; `null` when JSON is not accepted. */
export function renderingFor(accept: string | undefined): Rendering | null {
  if (accept === undefined || accept === "") return "object";
  for (const type of accept.split(",").map((part) => part.trim())) {
    const [media, ...parameters] = type.split(";").map((part) => part.trim());
    if (media !== "application/json" && media !== "*/*" && media !== "application/*") continue;
    const as = parameters.find((parameter) => parameter.startsWith("as="))?.slice(3);
    if (as === undefined) return "object";
    if (as === "PartialObjectMetadata" || as === "PartialObjectMetadataList") return "metadata";
  }
  return null;
}
