import { readFileSync } from "node:fs";
import { sizingTable } from "../bench/sizing.ts";
import { rightsTable } from "../deploy/output/rightsTable.ts";
import { withTable } from "./guideTable.ts";

const page = "docs/operations.md";

/** The operations guide with its generated tables. */
export function operationsGuide(): string {
  const guide = readFileSync(new URL(`../${page}`, import.meta.url), "utf8");
  return withTable(page, withTable(page, guide, "rights", rightsTable()), "sizes", sizingTable());
}
