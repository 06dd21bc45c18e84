import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { run } from "../../cli/run.ts";
import type { ApiServer } from "./apiServer.ts";
import { freePort } from "./program.ts";

/** A running `fairlead serve`. */
export interface Served {
  /** The body of an answer; empty while nobody answers. */
  page(path: string): Promise<string>;
  /** The code that a path answers with. */
  status(path: string): Promise<number>;
  log(): string;
  /** Ends it as Ctrl-C does; what it ends with. */
  stop(): Promise<number>;
}

/** Runs `fairlead serve` with a kubeconfig of one token. */
export async function serveWith(server: ApiServer, token: string, folder: string): Promise<Served> {
  const [kubeconfig, config] = [join(folder, "kubeconfig.yaml"), join(folder, "fairlead.yaml")];
  await writeFile(kubeconfig, server.kubeconfigFor(token), { mode: 0o600 });
  await writeFile(
    config,
    `cluster: rights\ninterval: 1\nkubernetes: { kubeconfig: ${kubeconfig} }\ndcgm: { discovery: [] }\n`,
  );
  const address = `127.0.0.1:${await freePort()}`;
  let [log, interrupt] = ["", (): void => {}];
  const io = {
    out: () => {},
    err: (text: string) => {
      log += text;
    },
    isTerminal: false,
    interrupted: new Promise<void>((resolve) => {
      interrupt = resolve;
    }),
  };
  const ended = run(["serve", "--config.file", config, "--web.listen-address", address], io);
  return {
    page: async (path) =>
      await fetch(`http://${address}${path}`).then(
        (answer) => answer.text(),
        () => "",
      ),
    status: async (path) =>
      await fetch(`http://${address}${path}`).then(
        (answer) => answer.status,
        () => 0,
      ),
    log: () => log,
    stop: async () => {
      interrupt();
      return await ended;
    },
  };
}
