import { readFileSync } from "node:fs";
import { countPackages, packageTable } from "../deploy/output/packageCounts.ts";
import { withTable } from "./guideTable.ts";

const page = "docs/dependencies.md";

/** The page on dependencies, with the number of packages that each dependency brings according to the lock file. */
export function dependenciesPage(): string {
  const text = readFileSync(new URL(`../${page}`, import.meta.url), "utf8");
  const lock: unknown = JSON.parse(readFileSync(new URL("../package-lock.json", import.meta.url), "utf8"));
  return withTable(page, text, "packages", packageTable(countPackages(lock)));
}
