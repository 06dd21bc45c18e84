import { readFileSync } from "node:fs";
import { chartValues } from "../deploy/output/helm.ts";
import { valuesReference } from "../deploy/output/valuesReference.ts";
import { withTable } from "./guideTable.ts";

const page = "deploy/helm/fairlead/README.md";
const textOf = (name: string): string => readFileSync(new URL(`../${name}`, import.meta.url), "utf8");

/** The chart's README, with the generated table of its values. */
export const chartReadme = (): string => withTable(page, textOf(page), "values", valuesReference(chartValues()));
