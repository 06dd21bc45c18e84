import type { Values } from "../values/schema.ts";

/** What a chart knows when it is installed, in the words of Helm's built-in objects. */
export interface Context {
  readonly values: Values;
  readonly release: {
    readonly name: string;
    readonly namespace: string;
    /** What installs the chart (`Helm`); `null` for manifests that nothing installs. */
    readonly service: string | null;
  };
  readonly chart: { readonly name: string; readonly version: string; readonly appVersion: string };
  /** Files of the chart that are no templates, by their path in it. */
  readonly files: Readonly<Record<string, string>>;
  /** API groups that the cluster has. */
  readonly apiGroups: ReadonlySet<string>;
}
