import type { KubeObject } from "../objects/kubeObject.ts";

export type ObjectFilter = (object: KubeObject) => boolean;

/** A filter, or what is wrong with the selector. */
export type ParsedSelector =
  | { readonly ok: true; readonly matches: ObjectFilter }
  | { readonly ok: false; readonly message: string };

const everything: ParsedSelector = { ok: true, matches: () => true };

/** Label selectors as kubectl writes them: `a=b`, `a!=b`, `a in (b,c)`, `a notin (b)`, `a`, `!a`, joined by commas. */
export function parseLabelSelector(text: string): ParsedSelector {
  if (text.trim() === "") return everything;
  const filters: ObjectFilter[] = [];
  for (const term of text.split(/,(?![^(]*\))/)) {
    const filter = labelTerm(term.trim());
    if (filter === null) return { ok: false, message: `unable to parse requirement: found '${term}'` };
    filters.push(filter);
  }
  return { ok: true, matches: (object) => filters.every((filter) => filter(object)) };
}

function labelTerm(term: string): ObjectFilter | null {
  const set = /^([^\s!=(),]+)\s+(in|notin)\s+\(([^()]*)\)$/.exec(term);
  if (set !== null) {
    const [, key = "", operator, list = ""] = set;
    const values = list.split(",").map((value) => value.trim());
    const wanted = operator === "in";
    return (object) => {
      const value = labelOf(object, key);
      return (value !== undefined && values.includes(value)) === wanted;
    };
  }
  const equality = /^([^\s!=(),]+)\s*(==|!=|=)\s*([^\s=!(),]*)$/.exec(term);
  if (equality !== null) {
    const [, key = "", operator, value] = equality;
    return (object) => (labelOf(object, key) === value) === (operator !== "!=");
  }
  const existence = /^(!?)\s*([^\s!=(),]+)$/.exec(term);
  if (existence === null) return null;
  const [, not, key = ""] = existence;
  return (object) => (labelOf(object, key) !== undefined) === (not === "");
}

function labelOf(object: KubeObject, key: string): string | undefined {
  const { labels } = object.metadata;
  return labels !== undefined && Object.hasOwn(labels, key) ? labels[key] : undefined;
}

/** Fields that real servers support for some kind that the simulator has. */
const supportedFields = new Set([
  "metadata.name",
  "metadata.namespace",
  "spec.nodeName",
  "status.phase",
  "spec.schedulerName",
]);

/** Field selectors: `path=value` and `path!=value`, joined by commas. */
export function parseFieldSelector(text: string): ParsedSelector {
  if (text.trim() === "") return everything;
  const filters: ObjectFilter[] = [];
  for (const term of text.split(",")) {
    const parsed = /^([^=!]+)(==|!=|=)(.*)$/.exec(term);
    const path = parsed?.[1] ?? term;
    if (parsed === null || !supportedFields.has(path))
      return { ok: false, message: `field label not supported: ${path}` };
    const [, , operator, value] = parsed;
    filters.push((object) => (fieldAt(object, path) === value) === (operator !== "!="));
  }
  return { ok: true, matches: (object) => filters.every((filter) => filter(object)) };
}

/** The value of a field as text. A field that is absent is selected like an empty one. */
function fieldAt(object: KubeObject, path: string): string {
  let value: unknown = object;
  for (const part of path.split(".")) {
    value =
      typeof value === "object" && value !== null && Object.hasOwn(value, part) ? Reflect.get(value, part) : undefined;
  }
  return typeof value === "string" ? value : "";
}
