import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import type { ApiServer } from "../apiServer.ts";
import { accepts, rawAnswer } from "../wireAnswers.ts";

const list = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.unknown(),
  items: z.array(z.looseObject({ metadata: z.looseObject({}) })),
});

/** A list of the API server as `kubectl get -o json` prints it: without `managedFields`. */
export async function readList(server: ApiServer, path: string): Promise<z.output<typeof list>> {
  const { items, ...rest } = list.parse(JSON.parse((await rawAnswer(server, path, accepts.json)).toString()));
  return {
    ...rest,
    items: items.map(({ metadata: { managedFields: _, ...metadata }, ...item }) => ({ ...item, metadata })),
  };
}

/** The families of a page of metrics whose names begin like this, without histograms: those are long, and not read. */
export function familiesOf(page: string, prefix: string): string {
  const histograms = [...page.matchAll(/^# TYPE (\S+) histogram$/gm)].map(([, name]) => name ?? "");
  const lines = page.split("\n").filter((line) => {
    const name = /^(?:# (?:HELP|TYPE) )?([a-zA-Z_:][a-zA-Z0-9_:]*)/.exec(line)?.[1] ?? "";
    return name.startsWith(prefix) && !histograms.includes(name.replace(/_(bucket|sum|count)$/, ""));
  });
  return `${lines.join("\n")}\n`;
}

/**
 * Writes lists (`NAME.json`) and pages of metrics (`NAME.prom`) into `folder` below the one that the environment variable
 * FAIRLEAD_CAPTURE names; nothing where it is unset. `FAIRLEAD_CAPTURE=test/captured/queues` renews the fixtures.
 */
export async function capture(
  server: ApiServer,
  folder: string,
  lists: Readonly<Record<string, string>>,
  pages: Readonly<Record<string, string>>,
): Promise<void> {
  const root = process.env.FAIRLEAD_CAPTURE;
  if (!root) return;
  const target = join(root, folder);
  await mkdir(target, { recursive: true });
  for (const [name, path] of Object.entries(lists)) {
    await writeFile(join(target, `${name}.json`), `${JSON.stringify(await readList(server, path), null, 2)}\n`);
  }
  for (const [name, page] of Object.entries(pages)) await writeFile(join(target, `${name}.prom`), page);
}
