import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { z } from "zod";
import { listeningOn, startedServer } from "../../startedServer.ts";

/** Whether Debian's Alertmanager and its amtool are there; says so when they are not. */
export function hasAlertmanager(): boolean {
  const found = ["prometheus-alertmanager", "amtool"].every(
    (program) => spawnSync(program, ["--version"]).status === 0,
  );
  if (!found)
    process.stdout.write(
      "skipped: prometheus-alertmanager is not installed (Debian: apt-get install prometheus-alertmanager)\n",
    );
  return found;
}

/** What `amtool` says with files in a folder of its own; `ok`: it found nothing wrong. */
export function amtool(files: Readonly<Record<string, string>>, args: readonly string[]) {
  const folder = folderWith(files);
  try {
    const { status, stdout, stderr } = spawnSync("amtool", args, { encoding: "utf8", cwd: folder });
    return { ok: status === 0, stdout, said: `${stdout}${stderr}` };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** An alert as it is posted to Alertmanager. */
export interface PostedAlert {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

const known = z.array(
  z.object({
    labels: z.record(z.string(), z.string()),
    status: z.object({ state: z.string(), inhibitedBy: z.array(z.string()) }),
  }),
);

/** Alertmanager on the loopback address, without a cluster of its own. */
export interface RunningAlertmanager {
  readonly url: string;
  post(alerts: readonly PostedAlert[]): Promise<void>;
  /** All alerts that it knows. */
  alerts(): Promise<z.infer<typeof known>>;
  stop(): Promise<void>;
}

/** Starts the installed Alertmanager with files; `alertmanager.yml` is its configuration. */
export async function startAlertmanager(files: Readonly<Record<string, string>>): Promise<RunningAlertmanager> {
  const folder = folderWith(files);
  const flags = [
    `--config.file=${path.join(folder, "alertmanager.yml")}`,
    `--storage.path=${path.join(folder, "data")}`,
    "--web.listen-address=127.0.0.1:0",
    "--cluster.listen-address=",
  ];
  const program = "prometheus-alertmanager";
  const server = await startedServer({ program, flags, address: listeningOn, ready: "/-/ready" });
  const { url } = server;
  const stop = async (): Promise<void> => {
    await server.stop();
    rmSync(folder, { recursive: true });
  };
  return {
    url,
    async post(alerts) {
      const body = JSON.stringify(alerts);
      const headers = { "content-type": "application/json" };
      const { status } = await fetch(`${url}/api/v2/alerts`, { method: "POST", headers, body });
      if (status !== 200) throw new Error(`alerts were answered with ${status}`);
    },
    alerts: async () => known.parse(await (await fetch(`${url}/api/v2/alerts`)).json()),
    stop,
  };
}

function folderWith(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(path.join(tmpdir(), "fairlead-alertmanager-"));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
    writeFileSync(path.join(folder, name), text);
  }
  return folder;
}
