import type { JsonValue } from "../../../exporter/model/recommendation.ts";
import { at, isArray, isObject, sameJson, textAt } from "../../json.ts";

/** RFC 6902: the patched document; `null` when an operation cannot be done or a `test` fails. */
export function jsonPatch(document: JsonValue, operations: readonly JsonValue[]): JsonValue | null {
  let patched: JsonValue | null = document;
  for (const operation of operations) {
    if (patched === null) return null;
    patched = applyOperation(patched, operation);
  }
  return patched;
}

function applyOperation(document: JsonValue, operation: JsonValue): JsonValue | null {
  const path = pointer(textAt(operation, "path"));
  const value = at(operation, "value");
  if (path === null) return null;
  const found = at(document, ...path);
  switch (textAt(operation, "op")) {
    case "test":
      return sameJson(found, value ?? null) ? document : null;
    case "add":
      return value === undefined ? null : write(document, path, value, "add");
    case "replace":
      return value === undefined || found === undefined ? null : write(document, path, value, "replace");
    case "remove":
      return found === undefined ? null : write(document, path, undefined, "replace");
    case "copy":
      return copy(document, operation, path, false);
    case "move":
      return copy(document, operation, path, true);
    default:
      return null;
  }
}

function copy(document: JsonValue, operation: JsonValue, path: readonly string[], moves: boolean): JsonValue | null {
  const from = pointer(textAt(operation, "from"));
  const copied = from === null ? undefined : at(document, ...from);
  if (from === null || copied === undefined) return null;
  const rest = moves ? write(document, from, undefined, "replace") : document;
  return rest === null ? null : write(rest, path, copied, "add");
}

/** The parts of a JSON pointer (RFC 6901); `null` for what is none. */
function pointer(text: string | null): readonly string[] | null {
  if (text === null || (text !== "" && !text.startsWith("/"))) return null;
  const parts = text
    .split("/")
    .slice(1)
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
  return parts.includes("__proto__") ? null : parts;
}

type How = "add" | "replace";

/** A copy with `value` at the path (`undefined`: without what is there); `null` where the path leads nowhere. */
function write(document: JsonValue, path: readonly string[], value: JsonValue | undefined, how: How): JsonValue | null {
  const [key, ...rest] = path;
  if (key === undefined) return value ?? null;
  if (isArray(document)) return writeItem(document, key, rest, value, how);
  if (!isObject(document)) return null;
  const { [key]: inner, ...others } = document;
  if (rest.length === 0) return value === undefined ? others : { ...document, [key]: value };
  const changed = inner === undefined ? null : write(inner, rest, value, how);
  return changed === null ? null : { ...document, [key]: changed };
}

function writeItem(
  items: readonly JsonValue[],
  key: string,
  rest: readonly string[],
  value: JsonValue | undefined,
  how: How,
): JsonValue | null {
  const index = key === "-" ? items.length : Number(key);
  if (!Number.isInteger(index) || index < 0 || index > items.length) return null;
  if (rest.length === 0) return items.toSpliced(index, how === "add" ? 0 : 1, ...(value === undefined ? [] : [value]));
  const inner = items[index];
  const changed = inner === undefined ? null : write(inner, rest, value, how);
  return changed === null ? null : items.with(index, changed);
}
