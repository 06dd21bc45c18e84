import type { ApiClient } from "../../exporter/sources/kubernetes/apiClient.ts";
import { jsonWire } from "../../exporter/sources/kubernetes/jsonWire.ts";
import { listPages } from "../../exporter/sources/kubernetes/listPages.ts";
import { defaultTiming } from "../../exporter/sources/kubernetes/reflector.ts";
import type { Setback } from "../../exporter/sources/kubernetes/setback.ts";
import type { DumpFile } from "../inspect/readFiles.ts";
import type { Collection } from "./collections.ts";
import { withoutSecrets } from "./withoutSecrets.ts";

/** All objects of a collection as they arrived, except for what may hold secrets; or why they cannot be read. */
export type Listed =
  | { readonly ok: true; readonly collection: Collection; readonly objects: readonly unknown[] }
  | { readonly ok: false; readonly collection: Collection; readonly setback: Setback };

/** Leaves objects as they are, without secrets: `readDump` decodes them. */
const asTheyAre = jsonWire<unknown>((value) => ({ ok: true, value: withoutSecrets(value) }));

/** Lists a collection to its end. */
export async function listObjects(
  client: ApiClient,
  collection: Collection,
  pageSize: number,
  signal: AbortSignal,
): Promise<Listed> {
  let objects: unknown[] = [];
  const outcome = await listPages({
    client,
    path: collection.path,
    wire: asTheyAre,
    pageSize,
    pageDeadlineSeconds: defaultTiming.requestDeadlineSeconds,
    maxPageBytes: defaultTiming.maxPageBytes,
    signal,
    begin: () => {
      objects = [];
      return ({ decoded }) => {
        if (decoded.ok) objects.push(decoded.value);
      };
    },
  });
  return outcome.ok ? { ok: true, collection, objects } : { ok: false, collection, setback: outcome.setback };
}

/** The most objects in one file: a reader takes no file of more than 512 MB, and an object has some kilobytes. */
const objectsPerFile = 10_000;

/** The files of a list, as `kubectl get -o json` would write them; a list without objects has one file, too. */
export function filesOf(
  { name, kind, apiVersion }: Collection,
  objects: readonly unknown[],
  at: number,
): readonly DumpFile[] {
  const count = Math.max(1, Math.ceil(objects.length / objectsPerFile));
  return Array.from({ length: count }, (_, i) => {
    const items = objects.slice(i * objectsPerFile, (i + 1) * objectsPerFile);
    const stem = i === 0 ? name : `${name}-${i + 1}`;
    const list = { apiVersion, kind: `${kind}List`, metadata: {}, items };
    return {
      path: `${stem}.json`,
      stem,
      kind: "objects",
      bytes: Buffer.from(JSON.stringify(list, null, 1)),
      modifiedAt: at,
    };
  });
}
