import { copyFile, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import type { ApiServer } from "./apiServer.ts";
import type { Admin } from "./kubernetesAdmin.ts";
import { freePort, Program } from "./program.ts";
import { createDefinitions, yamlDocuments } from "./queues/resourceDefinitions.ts";

/** A running controller of a kind of workload, with its webhooks. */
export interface WorkloadController {
  /** The end of what it has logged. */
  logTail(): Promise<string>;
  stop(): Promise<void>;
}

/** What differs between the controllers of kinds of workloads. */
interface Kind {
  readonly program: "lws" | "jobset";
  readonly configuration: string;
  /** The label of the pods that its webhooks are asked about. */
  readonly podLabel: string;
}

/** LeaderWorkerSet and JobSet. */
export const workloadKinds = {
  leaderWorkerSet: {
    program: "lws",
    configuration: "config.lws.x-k8s.io/v1alpha1",
    podLabel: "leaderworkerset.sigs.k8s.io/name",
  },
  jobSet: {
    program: "jobset",
    configuration: "config.jobset.x-k8s.io/v1alpha1",
    podLabel: "jobset.sigs.k8s.io/jobset-name",
  },
} as const satisfies Readonly<Record<string, Kind>>;

const admissionPath = "/apis/admissionregistration.k8s.io/v1";

const webhookKind = z.enum(["MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"]);
const webhooks = z.looseObject({
  kind: webhookKind,
  webhooks: z.array(
    z.looseObject({
      clientConfig: z.looseObject({ service: z.looseObject({ path: z.string() }) }),
      rules: z.array(z.looseObject({ resources: z.array(z.string()) })),
    }),
  ),
});

/**
 * Starts a controller out of a folder that `install-workload-controllers.sh` printed. Its webhooks have the certificate of the
 * API server itself, which is made for the loopback address. They may be up later than this resolves.
 */
export async function startWorkloadController(
  server: ApiServer,
  admin: Admin,
  assets: string,
  { program, configuration, podLabel }: Kind,
): Promise<WorkloadController> {
  const folder = await mkdtemp(join(tmpdir(), `fairlead-${program}-`));
  const certDir = join(folder, "certs");
  const [webhookPort, healthPort] = await Promise.all([freePort(), freePort()]);
  await mkdir(certDir);
  await copyFile(server.caCertPath, join(certDir, "tls.crt"));
  await copyFile(server.caCertPath.replace(/\.crt$/, ".key"), join(certDir, "tls.key"));
  const [kubeconfig, config] = [join(folder, "kubeconfig"), join(folder, "config.yaml")];
  await writeFile(kubeconfig, server.kubeconfigFor(server.adminToken), { mode: 0o600 });
  await writeFile(
    config,
    JSON.stringify({
      apiVersion: configuration,
      kind: "Configuration",
      health: { healthProbeBindAddress: `127.0.0.1:${healthPort}` },
      metrics: { bindAddress: "0" },
      webhook: { host: "127.0.0.1", port: webhookPort, certDir },
      leaderElection: { leaderElect: false },
      internalCertManagement: { enable: false },
    }),
  );
  const controller = new Program(folder, join(assets, program), [`--config=${config}`, `--kubeconfig=${kubeconfig}`]);
  const stop = async (): Promise<void> => {
    await controller.kill();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    await createDefinitions(admin, join(assets, `${program}-crds`));
    controller.start();
    await controller.ready(async () => (await fetch(`http://127.0.0.1:${healthPort}/readyz`)).status);
    const reached = { url: `https://127.0.0.1:${webhookPort}`, caBundle: Buffer.from(server.ca).toString("base64") };
    for (const { kind, webhooks: all, ...rest } of z
      .array(webhooks)
      .parse(await yamlDocuments(join(assets, `${program}-webhooks`, "manifests.yaml")))) {
      const ofPods = { matchExpressions: [{ key: podLabel, operator: "Exists" }] };
      await admin.send("POST", `${admissionPath}/${kind.toLowerCase()}s`, {
        ...rest,
        kind,
        metadata: { name: `${program}-${kind.toLowerCase()}` },
        webhooks: all.map(({ clientConfig: { service }, rules, ...webhook }) => ({
          ...webhook,
          rules,
          clientConfig: { ...reached, url: `${reached.url}${service.path}` },
          ...(rules.some(({ resources }) => resources.includes("pods")) ? { objectSelector: ofPods } : {}),
        })),
      });
    }
    return { logTail: async () => await controller.logTail(), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
