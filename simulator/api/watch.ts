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
  /**
   * The version after which events are sent; `null`: all that exists is sent first (as with `0`), and then all events from now
   * on.
   */
  readonly resourceVersion: number | null;
  readonly allowBookmarks: boolean;
  /** Whether it is a streaming list: ADDED for all that exists, then a bookmark that marks its end. */
  readonly sendInitialEvents: boolean;
}

/** Where the events of one watch go. */
export interface WatchStream {
  /** Opens the watch. */
  begin(): void;
  write(text: string): void;
  /** Ends the watch in order, after a last text. */
  end(text: string): void;
  /** Breaks the watch off. */
  destroy(): void;
  /** Registers a callback that is called once when the watch is over, whoever ended it. */
  onClose(callback: () => void): void;
}

export interface WatchHub {
  open(query: WatchQuery, stream: WatchStream): void;
  /** Sends a bookmark on every watch that asked for them. */
  bookmark(): void;
  /** Breaks off every open watch in the middle. */
  cut(): void;
  /** Lets the next watch of each resource that names a version be answered that the version is too old. */
  forgetOnce(): void;
  openWatches(): number;
}

/** Serves watches from a store. */
export function createWatchHub(store: ObjectStore): WatchHub {
  const open = new Map<WatchStream, { bookmark(): void }>();
  let forgottenRound = 0;
  const reportedGone = new Map<string, number>();

  function isForgotten(resource: string): boolean {
    if ((reportedGone.get(resource) ?? 0) >= forgottenRound) return false;
    reportedGone.set(resource, forgottenRound);
    return true;
  }

  return {
    open(query, stream) {
      const { info } = query;
      stream.begin();
      const resume = query.resourceVersion;
      const missed = resume === null ? [] : store.eventsAfter(info.shelf, resume);
      if (missed === null || (resume !== null && isForgotten(info.shelf))) {
        endWith(stream, tooOldResourceVersion(resume ?? 0, store.version()));
        return;
      }
      const send = (event: StoreEvent): void => {
        const line = eventLine(query, event);
        if (line !== null) stream.write(line);
      };
      if (resume === null || query.sendInitialEvents) sendExisting(query, store, stream);
      else {
        for (const event of missed) send(event);
        // Whoever opens a watch anew may wait for a version at which this kind did not change, and time may not go on until
        // then.
        if (query.allowBookmarks && (resume ?? 0) < store.version())
          stream.write(bookmarkLine(query, store.version(), false));
      }
      const unsubscribe = store.subscribe(info.shelf, send);
      open.set(stream, {
        bookmark: () => {
          if (query.allowBookmarks) stream.write(bookmarkLine(query, store.version(), false));
        },
      });
      stream.onClose(() => {
        unsubscribe();
        open.delete(stream);
      });
    },
    bookmark() {
      for (const watch of open.values()) watch.bookmark();
    },
    cut() {
      for (const stream of [...open.keys()]) stream.destroy();
    },
    forgetOnce() {
      forgottenRound++;
    },
    openWatches: () => open.size,
  };
}

function endWith(stream: WatchStream, status: ApiStatus): void {
  stream.end(`${JSON.stringify({ type: "ERROR", object: status })}\n`);
}

function sendExisting(query: WatchQuery, store: ObjectStore, stream: WatchStream): void {
  for (const entry of store.list(query.info.shelf)) {
    if (!selects(query, entry)) continue;
    stream.write(`{"type":"ADDED","object":${objectText(query.info, entry, query.rendering)}}\n`);
  }
  if (query.sendInitialEvents && query.allowBookmarks) stream.write(bookmarkLine(query, store.version(), true));
}

function selects(query: WatchQuery, entry: StoredObject): boolean {
  if (query.namespace !== null && entry.object.metadata.namespace !== query.namespace) return false;
  return query.matches(entry.object);
}

/**
 * The line for an event; `null` where the watch does not select it. An object that begins or ceases to match the selector
 * counts as added or deleted for this watch.
 */
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
