import { LineCounter, parseAllDocuments } from "yaml";
import { isRecord } from "../../exporter/kernel/parseJson.ts";
import type { Problem } from "../../exporter/model/problem.ts";
import { type DumpFile, skipped } from "./readFiles.ts";

/** One Kubernetes object of a dump, as parsed text. */
export interface DumpObject {
  readonly kind: string;
  readonly apiVersion: string;
  readonly value: Readonly<Record<string, unknown>>;
}

/** A kind, as a list of its objects names it. */
export interface ListedKind {
  readonly kind: string;
  readonly apiVersion: string;
}

export interface DumpObjects {
  readonly objects: readonly DumpObject[];
  /** Kinds for which there was a list, with or without items (`PodList` with no items means that there are no pods). */
  readonly listed: readonly ListedKind[];
  /** Whether there was a List of no particular kind and without items, which `kubectl get` writes where there is no object. */
  readonly hasEmptyList: boolean;
  readonly problems: readonly Problem[];
}

/** Reads the objects in a file: a single one, a List, several YAML documents, or one JSON object a line. */
export function readObjects(file: DumpFile): DumpObjects {
  const found: Found = { objects: [], listed: [], problems: [] };
  const values = parseDocuments(file, found.problems);
  for (const value of values) collect(value, file, found, 0);
  return { ...found, hasEmptyList: values.some(isEmptyList) };
}

/** What has been found in the values of a file so far. */
interface Found {
  readonly objects: DumpObject[];
  readonly listed: ListedKind[];
  readonly problems: Problem[];
}

function parseDocuments(file: DumpFile, problems: Problem[]): readonly unknown[] {
  const text = file.bytes.toString("utf8").replace(/^\uFEFF/, "");
  if (text.trim() === "") {
    problems.push(skipped(file.path, "it is empty"));
    return [];
  }
  if (/^\s*[[{]/.test(text)) {
    const json = parseJson(text);
    if (json !== null) return json;
  }
  return parseYaml(file, text, problems);
}

/** The whole text as one value, else each line as one; `null` when neither is JSON. */
function parseJson(text: string): readonly unknown[] | null {
  try {
    return [JSON.parse(text)];
  } catch {
    try {
      return text
        .split("\n")
        .filter((line) => line.trim() !== "")
        .map((line): unknown => JSON.parse(line));
    } catch {
      return null;
    }
  }
}

function parseYaml(file: DumpFile, text: string, problems: Problem[]): readonly unknown[] {
  const lines = new LineCounter();
  const values: unknown[] = [];
  try {
    for (const document of parseAllDocuments(text, {
      lineCounter: lines,
      uniqueKeys: true,
      logLevel: "silent",
      prettyErrors: false,
    })) {
      const [fault] = document.errors;
      if (fault !== undefined) {
        const { line, col } = lines.linePos(fault.pos[0]);
        problems.push(
          skipped(`${file.path}:${line}:${col}`, `it is neither JSON nor YAML (${firstLine(fault.message)})`),
        );
      } else values.push(document.toJS({ maxAliasCount: 100 }));
    }
  } catch (error) {
    problems.push(skipped(file.path, firstLine(error instanceof Error ? error.message : String(error))));
  }
  return values;
}

/** How deep lists may be nested in lists; deeper ones could exhaust the stack. */
const maxListDepth = 20;

const firstLine = (text: string): string => text.split("\n")[0] ?? "";

function collect(value: unknown, file: DumpFile, found: Found, depth: number): void {
  const { objects, problems } = found;
  if (value === null || value === undefined) return;
  if (depth > maxListDepth) {
    problems.push(skipped(file.path, `it has lists in lists, more than ${maxListDepth} deep`));
    return;
  }
  if (Array.isArray(value)) {
    for (const item of value) collect(item, file, found, depth + 1);
    return;
  }
  if (!isRecord(value)) {
    problems.push(
      skipped(
        file.path,
        `it holds ${typeof value === "string" ? "plain text" : `a ${typeof value}`}, not a Kubernetes object`,
      ),
    );
    return;
  }
  const kind = typeof value.kind === "string" ? value.kind : "";
  const apiVersion = typeof value.apiVersion === "string" ? value.apiVersion : "";
  if (kind.endsWith("List") && Array.isArray(value.items)) {
    const items = itemsOf(value.items, { kind: kind.slice(0, -"List".length), apiVersion }, found.listed);
    for (const item of items) collect(item, file, found, depth + 1);
    return;
  }
  if (kind === "") problems.push(skipped(file.path, "an object in it has no kind"));
  else objects.push({ kind, apiVersion, value });
}

/** The items of a typed list, which do not repeat their kind, with the kind of the list. */
function itemsOf(
  items: readonly unknown[],
  { kind, apiVersion }: ListedKind,
  listed: ListedKind[],
): readonly unknown[] {
  if (kind === "") return items;
  listed.push({ kind, apiVersion });
  return items.map((item) => (isRecord(item) && typeof item.kind !== "string" ? { ...item, kind, apiVersion } : item));
}

function isEmptyList(value: unknown): boolean {
  return isRecord(value) && value.kind === "List" && Array.isArray(value.items) && value.items.length === 0;
}
