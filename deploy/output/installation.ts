import { z } from "zod";
import type { Manifest } from "../manifests/manifest.ts";
import type { Context } from "../template/context.ts";
import { resolve } from "../template/resolve.ts";
import { coalesced } from "../values/coalesced.ts";
import { type GivenValues, type Values, valuesSchema } from "../values/schema.ts";
import type { ChartVersion } from "./chart.ts";
import type { Files } from "./files.ts";

const objectSchema = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.looseObject({ name: z.string(), namespace: z.string().optional() }),
});

/** An object of Kubernetes, as it is applied. */
export type InstalledObject = z.output<typeof objectSchema>;

/** Where and with what manifests are installed. */
export interface Installation {
  readonly chart: ChartVersion;
  readonly manifests: readonly Manifest[];
  readonly contents: Files;
  readonly values: Values;
  readonly release: Context["release"];
  readonly apiGroups?: readonly string[];
}

/** The objects that an installation makes, in the order in which they are applied. */
export function installedObjects({
  chart,
  manifests,
  contents,
  values,
  release,
  apiGroups = [],
}: Installation): readonly InstalledObject[] {
  const context: Context = { chart, values, release, files: contents, apiGroups: new Set(apiGroups) };
  const own = manifests
    .filter(({ when }) => when === null || when.resolve(context))
    .map(({ template }) => resolve(template, context));
  return [...own, ...values.extraManifests].map((object) => objectSchema.parse(object));
}

/** Values of which some are given and all others are at their defaults, merged as Helm does it. */
export function valuesWith(given: GivenValues): Values {
  return valuesSchema.parse(coalesced(valuesSchema.parse({}), given));
}
