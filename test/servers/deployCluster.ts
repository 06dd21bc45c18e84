import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ApiServer, startApiServer } from "./apiServer.ts";
import { runProgram, type Said } from "./deployHelm.ts";
import { type Admin, createAdmin } from "./kubernetesAdmin.ts";
import { installed } from "./program.ts";
import { createDefinitions } from "./queues/resourceDefinitions.ts";

/** A real API server with the Prometheus operator's kinds, and kubectl. */
export interface DeployCluster {
  readonly server: ApiServer;
  readonly admin: Admin;
  /** A kubeconfig of the cluster's administrator. */
  readonly kubeconfig: string;
  /** Asks the API server whether it would take objects, without a field that it does not know. */
  dryRun(objects: readonly object[]): Promise<Said>;
  stop(): Promise<void>;
}

/** Where only pods may run that ask for no privilege; another one comes with a warning. */
export const restrictedNamespaces = [
  "fairlead",
  "monitoring",
  "gpu-accounts",
  "grafana",
  "kueue-system",
  "volcano-system",
];

export async function startDeployCluster(): Promise<DeployCluster> {
  const [server, folder] = await Promise.all([
    startApiServer({ apiServerFlags: ["--allow-privileged=true"] }),
    mkdtemp(join(tmpdir(), "fairlead-deploy-")),
  ]);
  const admin = createAdmin(server);
  const stop = async (): Promise<void> => {
    await admin.close();
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    const kubectl = join(await installed("install-kube-servers.sh"), "kubectl");
    const kubeconfig = join(folder, "kubeconfig");
    await writeFile(kubeconfig, server.kubeconfigFor(server.adminToken));
    await createDefinitions(admin, join(await installed("install-operator-crds.sh"), "prometheus-operator"));
    for (const name of restrictedNamespaces) {
      const labels = {
        "pod-security.kubernetes.io/enforce": "restricted",
        "pod-security.kubernetes.io/warn": "restricted",
      };
      await admin.send("POST", "/api/v1/namespaces", { metadata: { name, labels } });
    }
    const flags = [`--kubeconfig=${kubeconfig}`, `--cache-dir=${join(folder, "cache")}`];
    return {
      server,
      admin,
      kubeconfig,
      stop,
      dryRun: (objects) =>
        runProgram(
          kubectl,
          [...flags, "apply", "--server-side", "--dry-run=server", "--validate=strict", "--filename=-"],
          JSON.stringify({ apiVersion: "v1", kind: "List", items: objects }),
        ),
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
