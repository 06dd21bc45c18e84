import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll } from "vitest";
import { documentSchema, type FairleadDocument } from "../../exporter/publish/document/schema.ts";
import { fairlead } from "./adviseAgainst.ts";

/** Files of a dump by name: text, or objects that become a List as `kubectl get -o json` writes it. */
export type DumpFiles = Readonly<Record<string, string | readonly object[]>>;

/** Makes dumps below a folder that goes away with the tests of the file. */
export function createDumps(): (files: DumpFiles) => string {
  const folder = mkdtempSync(path.join(tmpdir(), "fairlead-dump-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  let dumps = 0;
  return (files) => {
    dumps += 1;
    const dump = path.join(folder, String(dumps));
    mkdirSync(dump);
    for (const [name, content] of Object.entries(files))
      writeFileSync(path.join(dump, name), typeof content === "string" ? content : listOf(content));
    return dump;
  };
}

/** What `kubectl get -o json` writes of several objects, or of none. */
function listOf(items: readonly object[]): string {
  return JSON.stringify({ apiVersion: "v1", items, kind: "List", metadata: { resourceVersion: "" } });
}

/** The document of a dump, as `fairlead inspect -o json` prints it. */
export async function documentOfDump(dump: string, ...more: readonly string[]): Promise<FairleadDocument> {
  const { out } = await fairlead("inspect", dump, "-o", "json", ...more);
  return documentSchema.parse(JSON.parse(out));
}
