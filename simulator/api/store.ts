import type { KubeObject } from "../objects/kubeObject.ts";

/** One version of one object. It is immutable. */
export interface StoredObject {
  /** `namespace/name`, or the name of a cluster-scoped object. */
  readonly key: string;
  readonly version: number;
  readonly object: KubeObject;
}

export interface StoreEvent {
  readonly version: number;
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  readonly current: StoredObject;
  /** What the object was before; `null` for ADDED. */
  readonly previous: StoredObject | null;
}

/** The objects of the simulated cluster with one common resource version, as etcd has it. */
export interface ObjectStore {
  /** Adds or changes an object. An object that did not change keeps its version and makes no event. */
  put(resource: string, object: KubeObject): void;
  remove(resource: string, namespace: string | undefined, name: string): void;
  get(resource: string, key: string): StoredObject | undefined;
  /** All objects of a resource, ordered by key. */
  list(resource: string): readonly StoredObject[];
  version(): number;
  /** Events after a version; `null` when the history does not reach back so far. */
  eventsAfter(resource: string, version: number): readonly StoreEvent[] | null;
  /** Calls back for each new event of a resource until the returned function is called. */
  subscribe(resource: string, listener: (event: StoreEvent) => void): () => void;
  /** Forgets all events up to now, as a compaction does. */
  compact(): void;
}

interface Shelf {
  readonly objects: Map<string, StoredObject>;
  /** Text of each object without its resource version, to notice puts that change nothing. */
  readonly bodies: Map<string, string>;
  events: StoreEvent[];
  /** Events up to this version are forgotten. */
  forgotten: number;
  readonly listeners: Set<(event: StoreEvent) => void>;
}

/** The most events that are kept for each resource; a watch from an older version is answered with 410. */
const historyLimit = 5000;

/** The key of an object within its resource. */
export function objectKey(namespace: string | undefined, name: string): string {
  return namespace === undefined ? name : `${namespace}/${name}`;
}

/** An empty store whose first version is 1001, so that nobody takes versions for counts. */
export function createObjectStore(): ObjectStore {
  const shelves = new Map<string, Shelf>();
  let version = 1000;

  function shelf(resource: string): Shelf {
    const known = shelves.get(resource);
    if (known !== undefined) return known;
    const made = { objects: new Map(), bodies: new Map(), events: [], forgotten: 0, listeners: new Set<never>() };
    shelves.set(resource, made);
    return made;
  }

  function record(into: Shelf, event: StoreEvent): void {
    into.events.push(event);
    if (into.events.length > 2 * historyLimit) {
      into.events = into.events.slice(-historyLimit);
      into.forgotten = (into.events[0]?.version ?? 1) - 1;
    }
    for (const listener of [...into.listeners]) listener(event);
  }

  function stamped(key: string, object: KubeObject): StoredObject {
    const metadata = { ...object.metadata, resourceVersion: String(version) };
    return { key, version, object: { ...object, metadata } };
  }

  return {
    put(resource, object) {
      const into = shelf(resource);
      const key = objectKey(object.metadata.namespace, object.metadata.name);
      const body = JSON.stringify(object);
      if (into.bodies.get(key) === body) return;
      version++;
      const previous = into.objects.get(key) ?? null;
      const current = stamped(key, object);
      into.bodies.set(key, body);
      into.objects.set(key, current);
      record(into, { version, type: previous === null ? "ADDED" : "MODIFIED", current, previous });
    },
    remove(resource, namespace, name) {
      const from = shelf(resource);
      const key = objectKey(namespace, name);
      const previous = from.objects.get(key);
      if (previous === undefined) return;
      version++;
      from.objects.delete(key);
      from.bodies.delete(key);
      record(from, { version, type: "DELETED", current: stamped(key, previous.object), previous });
    },
    get: (resource, key) => shelf(resource).objects.get(key),
    list: (resource) => [...shelf(resource).objects.values()].sort((a, b) => (a.key < b.key ? -1 : 1)),
    version: () => version,
    eventsAfter(resource, after) {
      const { events, forgotten } = shelf(resource);
      if (after < forgotten) return null;
      return events.filter((event) => event.version > after);
    },
    subscribe(resource, listener) {
      const { listeners } = shelf(resource);
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    compact() {
      for (const each of shelves.values()) {
        each.events = [];
        each.forgotten = version;
      }
    },
  };
}
