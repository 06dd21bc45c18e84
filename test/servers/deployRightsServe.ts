import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ApiServer } from "./apiServer.ts";
import { type Served, serve } from "./served.ts";

/** A running `fairlead serve`, and what it answers. */
export interface ServedPages extends Served {
  /** The body of an answer. */
  page(path: string): Promise<string>;
  /** The code that a path answers with. */
  status(path: string): Promise<number>;
}

/** Runs `fairlead serve` with a kubeconfig of one token. */
export async function serveWith(server: ApiServer, token: string, folder: string): Promise<ServedPages> {
  const [kubeconfig, config] = [join(folder, "kubeconfig.yaml"), join(folder, "fairlead.yaml")];
  await writeFile(kubeconfig, server.kubeconfigFor(token), { mode: 0o600 });
  await writeFile(
    config,
    `cluster: rights\ninterval: 1\nkubernetes: { kubeconfig: ${kubeconfig} }\ndcgm: { discovery: [] }\n`,
  );
  const served = await serve(config);
  return {
    ...served,
    page: async (path) => await (await fetch(`${served.url}${path}`)).text(),
    status: async (path) => (await fetch(`${served.url}${path}`)).status,
  };
}
