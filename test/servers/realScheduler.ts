import { rmSync } from "node:fs";
import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ApiServer } from "./apiServer.ts";
import { freePort, installed, Program } from "./program.ts";

/** A running kube-scheduler with its default profile. */
export interface RealScheduler {
  stop(): Promise<void>;
}

/** Starts a real kube-scheduler on an API server, with the administrator's rights. `flags`: more of its command line. */
export async function startScheduler(server: ApiServer, flags: readonly string[] = []): Promise<RealScheduler> {
  const assets = await installed("install-kube-servers.sh");
  const folder = await mkdtemp(join(tmpdir(), "fairlead-scheduler-"));
  const port = await freePort();
  const kubeconfig = join(folder, "kubeconfig");
  await writeFile(kubeconfig, server.kubeconfigFor(server.adminToken), { mode: 0o600 });
  const config = join(folder, "config.yaml");
  // Pods of a round that find no place yet are tried again at once when something leaves, not after the default second.
  await writeFile(
    config,
    `apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
clientConnection: { kubeconfig: ${JSON.stringify(kubeconfig)}, qps: 1000, burst: 2000 }
leaderElection: { leaderElect: false }
podInitialBackoffSeconds: 1
podMaxBackoffSeconds: 1
`,
  );
  const scheduler = new Program(folder, join(assets, "kube-scheduler"), [
    `--config=${config}`,
    "--bind-address=127.0.0.1",
    `--secure-port=${port}`,
    `--cert-dir=${join(folder, "certs")}`,
    "--authorization-always-allow-paths=/healthz,/readyz,/livez",
    ...flags,
  ]);
  const stop = async (): Promise<void> => {
    await scheduler.kill();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  };
  scheduler.start();
  return { stop };
}
