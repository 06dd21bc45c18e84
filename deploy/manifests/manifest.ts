import type { Expression } from "../template/expression.ts";
import type { Part, Template } from "../template/template.ts";

/** An object that the chart installs, and the file of the chart that it stands in. */
export interface Manifest {
  /** Path below the chart's `templates`. */
  readonly file: string;
  /** When it is installed; `null`: always. */
  readonly when: Expression<boolean> | null;
  readonly template: Part;
}

/** What every object of Kubernetes has. */
export interface KubernetesObject {
  readonly apiVersion: string;
  readonly kind: string;
}

/** An object of a kind, checked against the type of that kind. */
export function manifest<Kind extends KubernetesObject>(
  file: string,
  template: Template<Kind>,
  when: Expression<boolean> | null = null,
): Manifest {
  return { file, when, template };
}
