import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ApiServer } from "../apiServer.ts";
import type { Admin } from "../kubernetesAdmin.ts";
import { freePort, installed, Program } from "../program.ts";
import { createDefinitions } from "./resourceDefinitions.ts";

/** A running Volcano: scheduler and controller manager, without its admission webhooks. */
export interface Volcano {
  /** The scheduler's /metrics. */
  metricsPage(): Promise<string>;
  /** The end of what both have logged. */
  logTail(): Promise<string>;
  stop(): Promise<void>;
}

/** Which plugin gives queues their share. */
export type VolcanoPlugin = "proportion" | "capacity";

const controllers = ["gc", "job", "queue", "pg"].map((name) => `${name}-controller`).join(",");

/** Proportion as Volcano's chart sets it up; only with capacity are GPUs taken back. */
function schedulerConfiguration(plugin: VolcanoPlugin): string {
  const share = plugin === "proportion" ? "proportion" : "capacity\n    enableHierarchy: true";
  const actions = plugin === "proportion" ? "enqueue, allocate, backfill" : "enqueue, allocate, reclaim, backfill";
  return `actions: "${actions}"
tiers:
- plugins:
  - name: priority
  - name: gang
    enablePreemptable: false
  - name: conformance
- plugins:
  - name: drf
    enablePreemptable: false
  - name: predicates
  - name: ${share}
  - name: nodeorder
  - name: binpack
    arguments:
      binpack.resources: nvidia.com/gpu
`;
}

export async function startVolcano(server: ApiServer, admin: Admin, plugin: VolcanoPlugin): Promise<Volcano> {
  const assets = await installed("install-volcano.sh");
  const folder = await mkdtemp(join(tmpdir(), "fairlead-volcano-"));
  const [metricsPort, healthPort, controllerHealthPort] = await Promise.all([freePort(), freePort(), freePort()]);
  const kubeconfig = join(folder, "kubeconfig.yaml");
  const configuration = join(folder, "volcano-scheduler.conf");
  await writeFile(kubeconfig, server.kubeconfigFor(server.adminToken), { mode: 0o600 });
  await writeFile(configuration, schedulerConfiguration(plugin));
  const common = [`--kubeconfig=${kubeconfig}`, "--leader-elect=false", "--enable-healthz"];
  const controller = new Program(
    folder,
    join(assets, "controller-manager"),
    [...common, `--healthz-address=127.0.0.1:${controllerHealthPort}`, `--controllers=${controllers}`],
    { GOMAXPROCS: "2" },
  );
  const scheduler = new Program(
    folder,
    join(assets, "scheduler"),
    [
      ...common,
      `--scheduler-conf=${configuration}`,
      "--schedule-period=500ms",
      "--cache-dumper=false",
      "--enable-metrics",
      `--listen-address=127.0.0.1:${metricsPort}`,
      `--healthz-address=127.0.0.1:${healthPort}`,
    ],
    { GOMAXPROCS: "2" },
  );
  const stop = async (): Promise<void> => {
    await Promise.all([scheduler.kill(), controller.kill()]);
    await rm(folder, { recursive: true, force: true });
  };
  const healthy = (port: number) => async () => (await fetch(`http://127.0.0.1:${port}/healthz`)).status;
  try {
    await createDefinitions(admin, join(assets, "crds"));
    scheduler.start();
    controller.start();
    await Promise.all([scheduler.ready(healthy(healthPort)), controller.ready(healthy(controllerHealthPort))]);
    return {
      metricsPage: async () => await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text(),
      logTail: async () => `${await scheduler.logTail()}\n${await controller.logTail()}`,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
