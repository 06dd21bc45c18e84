import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { z } from "zod";
import { chartFolder } from "../../deploy/output/helm.ts";

const valuesSchema = z.looseObject({ config: z.looseObject({}).nullish() });

/** Values of a kind of installation. */
export type VariantValues = z.output<typeof valuesSchema>;

const folder = join(chartFolder, "ci");

/** Kinds of installations by their names: the files of the chart's folder `ci`. Each is rendered, checked and applied by tests. */
export const variants: Readonly<Record<string, VariantValues>> = Object.fromEntries(
  readdirSync(folder).map((name) => [
    name.replace(/-values\.yaml$/, ""),
    valuesSchema.parse(parse(readFileSync(join(folder, name), "utf8"))),
  ]),
);
