import { parseAllDocuments } from "yaml";
import { z } from "zod";

/** The fields that every object of Kubernetes has. */
export const installedObjectSchema = z.looseObject({
  apiVersion: z.string().min(1),
  kind: z.string().min(1),
  metadata: z.looseObject({ name: z.string().min(1), namespace: z.string().min(1).optional() }),
});

/** An object of Kubernetes, in the form in which it is applied. */
export type InstalledObject = z.output<typeof installedObjectSchema>;

/** The objects in the documents of a text; throws where a document is no object. */
export function objectsIn(text: string): readonly InstalledObject[] {
  return parseAllDocuments(text).flatMap((document) => {
    if (document.errors.length > 0) throw new Error(document.errors.join("\n"));
    const object: unknown = document.toJS({ maxAliasCount: 0 });
    return object === null ? [] : [installedObjectSchema.parse(object)];
  });
}
