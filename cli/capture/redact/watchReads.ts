/** A value, and the parts of it that were looked at. */
export interface WatchedValue {
  /** The value in a form that notices what a reader looks at. */
  readonly watched: unknown;
  /** A copy with only the parts that were looked at so far, and those that `isKept` keeps. */
  readonly seenParts: (isKept: (leaf: unknown, path: readonly string[]) => boolean) => unknown;
}

interface Seen {
  readonly parts: Map<string, Seen>;
}

/** Watches which parts of parsed JSON a reader looks at. */
export function watchReads(value: unknown): WatchedValue {
  const seen: Seen = { parts: new Map() };
  return { watched: watch(value, seen), seenParts: (isKept) => copy(value, seen, isKept, []) ?? {} };
}

function watch(value: unknown, seen: Seen): unknown {
  if (typeof value !== "object" || value === null) return value;
  const note = (key: string | symbol): Seen | null => {
    if (typeof key !== "string" || !Object.hasOwn(value, key)) return null;
    const part = seen.parts.get(key) ?? { parts: new Map() };
    seen.parts.set(key, part);
    return part;
  };
  return new Proxy(value, {
    get(target, key) {
      const found: unknown = Reflect.get(target, key);
      const part = note(key);
      return part === null ? found : watch(found, part);
    },
    has(target, key) {
      note(key);
      return Reflect.has(target, key);
    },
    getOwnPropertyDescriptor(target, key) {
      note(key);
      return Reflect.getOwnPropertyDescriptor(target, key);
    },
  });
}

function copy(
  value: unknown,
  seen: Seen | undefined,
  isKept: (leaf: unknown, path: readonly string[]) => boolean,
  path: readonly string[],
): unknown {
  if (typeof value !== "object" || value === null) return seen !== undefined || isKept(value, path) ? value : undefined;
  const parts = Object.entries(value).flatMap(([key, of]): readonly (readonly [string, unknown])[] => {
    const part = copy(of, seen?.parts.get(key), isKept, [...path, key]);
    return part === undefined ? [] : [[key, part]];
  });
  if (parts.length === 0 && seen === undefined) return undefined;
  return Array.isArray(value) ? parts.map(([, part]) => part) : Object.fromEntries(parts);
}
