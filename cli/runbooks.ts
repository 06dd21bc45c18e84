import { readdirSync, readFileSync } from "node:fs";
import type { Runbooks } from "../exporter/publish/pages/runbookPages.ts";

const folder = new URL("../alerts/runbooks/", import.meta.url);

/** The runbooks that come with Fairlead. */
export function readRunbooks(): Runbooks {
  const names = readdirSync(folder).filter((name) => name.endsWith(".md"));
  return new Map(names.map((name) => [name.slice(0, -".md".length), readFileSync(new URL(name, folder), "utf8")]));
}
