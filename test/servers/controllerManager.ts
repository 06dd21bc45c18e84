import { rmSync } from "node:fs";
import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ApiServer } from "./apiServer.ts";
import { freePort, installed, Program } from "./program.ts";

/** Some running controllers of a real kube-controller-manager. */
export interface ControllerManager {
  stop(): Promise<void>;
}

/** Starts controllers of kube-controller-manager by name on an API server, with the administrator's rights. */
export async function startControllerManager(
  server: ApiServer,
  controllers: readonly string[],
): Promise<ControllerManager> {
  const assets = await installed("install-kube-servers.sh");
  const folder = await mkdtemp(join(tmpdir(), "fairlead-controllers-"));
  const kubeconfig = join(folder, "kubeconfig");
  await writeFile(kubeconfig, server.kubeconfigFor(server.adminToken), { mode: 0o600 });
  const manager = new Program(folder, join(assets, "kube-controller-manager"), [
    `--kubeconfig=${kubeconfig}`,
    `--controllers=${controllers.join(",")}`,
    "--leader-elect=false",
    "--bind-address=127.0.0.1",
    `--secure-port=${await freePort()}`,
    `--cert-dir=${join(folder, "certs")}`,
    "--kube-api-qps=1000",
    "--kube-api-burst=2000",
  ]);
  manager.start();
  return {
    stop: async () => {
      await manager.kill();
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
