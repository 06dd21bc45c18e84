import { apiVersionOf, type KindInfo } from "./kinds.ts";
import { itemText, type Rendering } from "./render.ts";
import type { ObjectFilter } from "./selectors.ts";
import { type ApiStatus, badRequest, expiredContinue } from "./status.ts";
import type { ObjectStore, StoredObject } from "./store.ts";

/** The objects of a list that was begun with `limit`. It is kept so that later pages show the same moment as the first. */
interface Snapshot {
  readonly entries: readonly StoredObject[];
  readonly version: number;
}

export interface ListQuery {
  readonly info: KindInfo;
  readonly namespace: string | null;
  readonly matches: ObjectFilter;
  readonly selective: boolean;
  /** The most objects in a page; 0: no limit. */
  readonly limit: number;
  /** The token of the page that is asked for; empty: the first page. */
  readonly continueToken: string;
  readonly rendering: Rendering;
}

export interface Lister {
  /** The list's JSON, or why there is none. */
  list(query: ListQuery): string | ApiStatus;
}

/** The most snapshots that are kept; a token of an older one is answered with 410. */
const snapshotLimit = 32;

/** Answers LIST requests from a store. `continueExpired` says whether tokens are refused just now. */
export function createLister(store: ObjectStore, continueExpired: () => boolean): Lister {
  const snapshots = new Map<number, Snapshot>();
  let serial = 0;

  function firstPage(query: ListQuery): { snapshot: Snapshot; id: number } {
    const inNamespace = (entry: StoredObject): boolean =>
      query.namespace === null || entry.object.metadata.namespace === query.namespace;
    const entries = store.list(query.info.shelf).filter((entry) => inNamespace(entry) && query.matches(entry.object));
    const snapshot = { entries, version: store.version() };
    serial++;
    if (query.limit > 0 && entries.length > query.limit) {
      snapshots.set(serial, snapshot);
      const oldest = snapshots.keys().next();
      if (snapshots.size > snapshotLimit && oldest.done !== true) snapshots.delete(oldest.value);
    }
    return { snapshot, id: serial };
  }

  return {
    list(query) {
      let offset = 0;
      let page: { snapshot: Snapshot; id: number };
      if (query.continueToken === "") page = firstPage(query);
      else {
        const token = readToken(query.continueToken);
        if (token === null) return badRequest("continue key is not valid: illegal base64 or JSON");
        const snapshot = snapshots.get(token.id);
        if (snapshot === undefined || continueExpired()) return expiredContinue();
        page = { snapshot, id: token.id };
        offset = token.offset;
      }
      return listText(query, page.snapshot, page.id, offset);
    },
  };
}

function listText(query: ListQuery, snapshot: Snapshot, id: number, offset: number): string {
  const { info, rendering, limit } = query;
  const end = limit > 0 ? Math.min(snapshot.entries.length, offset + limit) : snapshot.entries.length;
  const remaining = snapshot.entries.length - end;
  const metadata = {
    resourceVersion: String(snapshot.version),
    ...(remaining > 0 ? { continue: writeToken(id, end) } : {}),
    ...(remaining > 0 && !query.selective ? { remainingItemCount: remaining } : {}),
  };
  const items = snapshot.entries.slice(offset, end).map((entry) => itemText(info, entry, rendering));
  const [kind, apiVersion] =
    rendering === "metadata"
      ? ["PartialObjectMetadataList", "meta.k8s.io/v1"]
      : [`${info.kind}List`, apiVersionOf(info)];
  return `{"kind":"${kind}","apiVersion":"${apiVersion}","metadata":${JSON.stringify(metadata)},"items":[${items.join(",")}]}\n`;
}

function writeToken(id: number, offset: number): string {
  return Buffer.from(JSON.stringify({ v: "meta.k8s.io/v1", id, offset })).toString("base64url");
}

function readToken(text: string): { id: number; offset: number } | null {
  const match = /^\{"v":"meta\.k8s\.io\/v1","id":(\d+),"offset":(\d+)\}$/.exec(
    Buffer.from(text, "base64url").toString(),
  );
  return match === null ? null : { id: Number(match[1]), offset: Number(match[2]) };
}
