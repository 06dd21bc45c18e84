import type { ServerResponse } from "node:http";
import { apiVersionOf, type KindInfo } from "./kinds.ts";
import { objectText, type Rendering } from "./render.ts";
import type { ObjectFilter } from "./selectors.ts";
import { type ApiStatus, tooOldResourceVersion } from "./status.ts";
import type { ObjectStore, StoredObject, StoreEvent } from "./store.ts";

export interface WatchQuery {
  readonly info: KindInfo;
  readonly namespace: string | null;
  readonly matches: ObjectFilter;
  readonly rendering: Rendering;
  /** `null`: from now on, after all that exists (as with `0`). */
  readonly resourceVersion: number | null;
  readonly allowBookmarks: boolean;
  /** Streaming list: ADDED for all that exists, then a bookmark that says so. */
  readonly sendInitialEvents: boolean;
  /** The server ends the watch after these seconds of real time; 0: never. */
  readonly timeoutSeconds: number;
}

export interface WatchHub {
  open(query: WatchQuery, response: ServerResponse): void;
  /** Sends a bookmark on every watch that asked for them. */
  bookmark(): void;
  /** Breaks every open watch off in the middle. */
  cut(): void;
  /** The next watch of each resource that names a version is told that it is too old. */
  forgetOnce(): void;
  openWatches(): number;
}

/** Serves watches from a store. */
export function createWatchHub(store: ObjectStore): WatchHub {
  const open = new Map<ServerResponse, { bookmark(): void }>();
  let forgottenRound = 0;
  const toldGone = new Map<string, number>();

  function isForgotten(resource: string): boolean {
    if ((toldGone.get(resource) ?? 0) >= forgottenRound) return false;
    toldGone.set(resource, forgottenRound);
    return true;
  }

  return {
    open(query, response) {
      const { info } = query;
      response.writeHead(200, { "content-type": "application/json", "cache-control": "no-cache, private" });
      response.flushHeaders();
      const resume = query.resourceVersion;
      const missed = resume === null ? [] : store.eventsAfter(info.shelf, resume);
      if (missed === null || (resume !== null && isForgotten(info.shelf))) {
        endWith(response, tooOldResourceVersion(resume ?? 0, store.version()));
        return;
      }
      const send = (event: StoreEvent): void => {
        const line = eventLine(query, event);
        if (line !== null) response.write(line);
      };
      if (resume === null || query.sendInitialEvents) sendExisting(query, store, response);
      else for (const event of missed) send(event);
      const unsubscribe = store.subscribe(info.shelf, send);
      open.set(response, {
        bookmark: () => {
          if (query.allowBookmarks) response.write(bookmarkLine(query, store.version(), false));
        },
      });
      const timer =
        query.timeoutSeconds > 0 ? setTimeout(() => response.end(), query.timeoutSeconds * 1000) : undefined;
      response.on("close", () => {
        clearTimeout(timer);
        unsubscribe();
        open.delete(response);
      });
    },
    bookmark() {
      for (const watch of open.values()) watch.bookmark();
    },
    cut() {
      for (const response of [...open.keys()]) response.destroy();
    },
    forgetOnce() {
      forgottenRound++;
    },
    openWatches: () => open.size,
  };
}

function endWith(response: ServerResponse, status: ApiStatus): void {
  response.end(`${JSON.stringify({ type: "ERROR", object: status })}\n`);
}

function sendExisting(query: WatchQuery, store: ObjectStore, response: ServerResponse): void {
  for (const entry of store.list(query.info.shelf)) {
    if (!selects(query, entry)) continue;
    response.write(`{"type":"ADDED","object":${objectText(query.info, entry, query.rendering)}}\n`);
  }
  if (query.sendInitialEvents && query.allowBookmarks) response.write(bookmarkLine(query, store.version(), true));
}

function selects(query: WatchQuery, entry: StoredObject): boolean {
  if (query.namespace !== null && entry.object.metadata.namespace !== query.namespace) return false;
  return query.matches(entry.object);
}

/** An object that begins or ceases to match the selector is added or deleted as far as this watch can tell. */
function eventLine(query: WatchQuery, event: StoreEvent): string | null {
  const was = event.previous !== null && selects(query, event.previous);
  const is = event.type !== "DELETED" && selects(query, event.current);
  if (!was && !is) return null;
  const type = was && is ? "MODIFIED" : is ? "ADDED" : "DELETED";
  return `{"type":"${type}","object":${objectText(query.info, event.current, query.rendering)}}\n`;
}

function bookmarkLine(query: WatchQuery, version: number, endsInitialEvents: boolean): string {
  const { info, rendering } = query;
  const annotations = endsInitialEvents ? { annotations: { "k8s.io/initial-events-end": "true" } } : {};
  const metadata = { resourceVersion: String(version), creationTimestamp: null, ...annotations };
  const object =
    rendering === "metadata"
      ? { kind: "PartialObjectMetadata", apiVersion: "meta.k8s.io/v1", metadata }
      : { kind: info.kind, apiVersion: apiVersionOf(info), metadata };
  return `${JSON.stringify({ type: "BOOKMARK", object })}\n`;
}
