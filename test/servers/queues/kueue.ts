import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Agent, request } from "undici";
import { z } from "zod";
import type { ApiServer } from "../apiServer.ts";
import { type Admin, until } from "../kubernetesAdmin.ts";
import { freePort, installed, Program } from "../program.ts";
import { createDefinitions, yamlDocuments } from "./resourceDefinitions.ts";

/** A running Kueue controller, with its webhooks. */
export interface Kueue {
  /** Its own /metrics. */
  metricsPage(): Promise<string>;
  /** The end of what it has logged. */
  logTail(): Promise<string>;
  /** Stops it where it is; until `resume` nothing that its webhooks look at can be changed. */
  pause(): void;
  resume(): void;
  stop(): Promise<void>;
}

const system = "kueue-system";
const service = "kueue-webhook-service";
const secretName = "kueue-webhook-server-cert";
const secretPath = `/api/v1/namespaces/${system}/secrets`;
const admissionPath = "/apis/admissionregistration.k8s.io/v1";
const converted = ["clusterqueues", "cohorts", "localqueues", "multikueueclusters", "workloads"].map(
  (plural) => `${plural}.kueue.x-k8s.io`,
);

const secret = z.looseObject({ data: z.record(z.string(), z.string()).optional() });
const webhooks = z.looseObject({
  kind: z.enum(["MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"]),
  webhooks: z.array(
    z.looseObject({
      clientConfig: z.looseObject({ service: z.looseObject({}) }),
      rules: z.array(z.looseObject({ apiGroups: z.array(z.string()) })),
    }),
  ),
});

/**
 * Starts Kueue with preemption-based fair sharing and Jobs as its one integration. `settings` are more of its
 * Configuration. The API server reaches its webhooks through a Service that is a name for the loopback address.
 */
export async function startKueue(server: ApiServer, admin: Admin, settings: object = {}): Promise<Kueue> {
  const assets = await installed("install-kueue.sh");
  const folder = await mkdtemp(join(tmpdir(), "fairlead-kueue-"));
  const certDir = join(folder, "certs");
  const [webhookPort, metricsPort, healthPort] = await Promise.all([freePort(), freePort(), freePort()]);
  await mkdir(certDir);
  await writeFile(join(folder, "kubeconfig.yaml"), server.kubeconfigFor(server.adminToken), { mode: 0o600 });
  const configuration = {
    apiVersion: "config.kueue.x-k8s.io/v1beta2",
    kind: "Configuration",
    namespace: system,
    health: { healthProbeBindAddress: `127.0.0.1:${healthPort}` },
    metrics: { bindAddress: `127.0.0.1:${metricsPort}`, enableClusterQueueResources: true },
    webhook: { host: "127.0.0.1", port: webhookPort, certDir },
    leaderElection: { leaderElect: false },
    clientConnection: { qps: 300, burst: 500 },
    integrations: { frameworks: ["batch/job"] },
    fairSharing: { preemptionStrategies: ["LessThanOrEqualToFinalShare", "LessThanInitialShare"] },
    ...settings,
  };
  await writeFile(join(folder, "configuration.yaml"), JSON.stringify(configuration));

  const kueue = new Program(
    folder,
    join(assets, "kueue"),
    [`--config=${join(folder, "configuration.yaml")}`, `--kubeconfig=${join(folder, "kubeconfig.yaml")}`],
    { GOMAXPROCS: "2" },
  );
  const tls = new Agent({ connect: { rejectUnauthorized: false } }); // it signs its metrics' certificate itself
  const scrape = () => {
    const headers = { authorization: `Bearer ${server.adminToken}` };
    return request(`https://127.0.0.1:${metricsPort}/metrics`, { dispatcher: tls, headers });
  };
  const stop = async (): Promise<void> => {
    await kueue.kill();
    await tls.destroy();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    await createWebhooks(admin, assets, webhookPort);
    kueue.start();
    await mountCertificate(admin, certDir);
    await kueue.ready(async () => (await fetch(`http://127.0.0.1:${healthPort}/readyz`)).status);
    // Its metrics are served by another server, which may start later.
    await kueue.ready(async () => {
      const { statusCode, body } = await scrape();
      await body.dump();
      return statusCode;
    });
    return {
      metricsPage: async () => {
        const answer = await scrape();
        const page = await answer.body.text();
        if (answer.statusCode !== 200) throw new Error(`Kueue's metrics answered ${answer.statusCode}: ${page}`);
        return page;
      },
      logTail: async () => await kueue.logTail(),
      pause: () => kueue.pause(),
      resume: () => kueue.resume(),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function createWebhooks(admin: Admin, assets: string, port: number): Promise<void> {
  await admin.send("POST", "/api/v1/namespaces", { metadata: { name: system } });
  await admin.send("POST", secretPath, { metadata: { name: secretName } });
  await admin.send("POST", `/api/v1/namespaces/${system}/services`, {
    metadata: { name: service },
    spec: { type: "ExternalName", externalName: "localhost" },
  });
  const reached = { namespace: system, name: service, port };
  await createDefinitions(admin, join(assets, "crds"), {
    converted,
    conversion: {
      strategy: "Webhook",
      webhook: { clientConfig: { service: { ...reached, path: "/convert" } }, conversionReviewVersions: ["v1"] },
    },
  });
  for (const { kind, webhooks: all, ...rest } of z
    .array(webhooks)
    .parse(await yamlDocuments(join(assets, "webhooks", "manifests.yaml")))) {
    const mutating = kind === "MutatingWebhookConfiguration";
    const served = all.filter(({ rules }) =>
      rules.every(({ apiGroups }) => apiGroups.every((group) => ["kueue.x-k8s.io", "batch"].includes(group))),
    );
    await admin.send("POST", `${admissionPath}/${mutating ? "mutating" : "validating"}webhookconfigurations`, {
      ...rest,
      kind,
      metadata: { name: `kueue-${mutating ? "mutating" : "validating"}-webhook-configuration` },
      webhooks: served.map(({ clientConfig, ...webhook }) => ({
        ...webhook,
        clientConfig: { ...clientConfig, service: { ...clientConfig.service, ...reached } },
      })),
    });
  }
}

/** Kueue makes its certificate and keeps it in a Secret, which kubelet would mount into its folder. */
async function mountCertificate(admin: Admin, certDir: string): Promise<void> {
  let data: Readonly<Record<string, string>> = {};
  await until("Kueue has made its certificate", async () => {
    data = secret.parse(await admin.send("GET", `${secretPath}/${secretName}`)).data ?? {};
    return "tls.crt" in data && "tls.key" in data;
  });
  // The certificate comes last: Kueue looks for it, and wants the key then.
  for (const [name, value] of Object.entries(data).sort(
    ([a], [b]) => Number(a === "tls.crt") - Number(b === "tls.crt"),
  )) {
    await writeFile(join(certDir, name), Buffer.from(value, "base64"), { mode: 0o600 });
  }
}
