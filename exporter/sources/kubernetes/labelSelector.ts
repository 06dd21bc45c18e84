/** One requirement of a label selector; all of them must hold. */
export interface LabelRequirement {
  readonly key: string;
  /** `exists` and `absent` look at the key alone. */
  readonly operator: "in" | "notin" | "exists" | "absent";
  readonly values: ReadonlySet<string>;
}

export type LabelSelector = readonly LabelRequirement[];

const key = "([A-Za-z0-9](?:[A-Za-z0-9._/-]*[A-Za-z0-9])?)";
const membership = new RegExp(`^${key}\\s+(in|notin)\\s*\\(([^()]*)\\)$`);
const equality = new RegExp(`^${key}\\s*(==|=|!=)\\s*([A-Za-z0-9._-]*)$`);
const existence = new RegExp(`^(!?)\\s*${key}$`);

/**
 * Reads a selector as `kubectl -l` takes it: `app=a,tier!=b,env in (x, y),zone notin (z),gpu,!cpu`.
 * `null` if it is not one; a blank selector, which would match every pod, is not one here.
 */
export function parseLabelSelector(selector: string): LabelSelector | null {
  // Commas inside parentheses separate values, not requirements.
  const parts = selector.split(/,(?![^(]*\))/).map((part) => part.trim());
  const requirements = parts.map(parseRequirement);
  return requirements.every((requirement) => requirement !== null) ? requirements : null;
}

function parseRequirement(part: string): LabelRequirement | null {
  const among = membership.exec(part);
  if (among !== null) {
    const values = (among[3] ?? "").split(",").map((value) => value.trim());
    return { key: among[1] ?? "", operator: among[2] === "in" ? "in" : "notin", values: new Set(values) };
  }
  const equal = equality.exec(part);
  if (equal !== null) {
    return { key: equal[1] ?? "", operator: equal[2] === "!=" ? "notin" : "in", values: new Set([equal[3] ?? ""]) };
  }
  const exists = existence.exec(part);
  if (exists === null) return null;
  return { key: exists[2] ?? "", operator: exists[1] === "!" ? "absent" : "exists", values: new Set() };
}

/** Whether labels meet a selector. As in Kubernetes, `!=` and `notin` also hold for an absent label. */
export function matchesLabels(selector: LabelSelector, labels: Readonly<Record<string, unknown>>): boolean {
  return selector.every((requirement) => {
    const value = Object.hasOwn(labels, requirement.key) ? labels[requirement.key] : undefined;
    const isAmong = typeof value === "string" && requirement.values.has(value);
    if (requirement.operator === "in") return isAmong;
    if (requirement.operator === "notin") return !isAmong;
    return (requirement.operator === "exists") === (value !== undefined);
  });
}
