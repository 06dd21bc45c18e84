import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import type { ApiServer } from "../apiServer.ts";
import { type Admin, crdObject } from "../kubernetesAdmin.ts";
import { freePort, installed, Program } from "../program.ts";
import { createDefinitions, yamlDocuments } from "./resourceDefinitions.ts";

/** A running KAI Scheduler: scheduler, pod grouper, binder and the controllers of queues and pod groups; no operator. */
export interface Kai {
  /** The scheduler's /metrics, and the queue controller's. */
  schedulerPage(): Promise<string>;
  queuePage(): Promise<string>;
  /** The end of what each has logged. */
  logTail(): Promise<string>;
  stop(): Promise<void>;
}

const programs = ["scheduler", "podgrouper", "podgroupcontroller", "queuecontroller", "binder"] as const;
const named = z.looseObject({ metadata: z.looseObject({ name: z.string() }) });

/**
 * Starts KAI's programs as its operator would, without admission webhooks. The pod group controller always serves its
 * metrics on port 8080, so that one must be free.
 */
export async function startKai(server: ApiServer, admin: Admin): Promise<Kai> {
  const assets = await installed("install-kai.sh");
  const folder = await mkdtemp(join(tmpdir(), "fairlead-kai-"));
  const kubeconfig = join(folder, "kubeconfig.yaml");
  await writeFile(kubeconfig, server.kubeconfigFor(server.adminToken), { mode: 0o600 });
  const ports = await Promise.all(Array.from({ length: 8 }, freePort));
  const [schedulerPort, queuePort, grouperHealth, groupHealth, binderHealth, pluginPort, grouperPort, binderPort] =
    ports;
  const flags: Readonly<Record<(typeof programs)[number], readonly string[]>> = {
    scheduler: [
      `--listen-address=127.0.0.1:${schedulerPort}`,
      `--plugin-server-port=${pluginPort}`,
      "--schedule-period=500ms",
    ],
    podgrouper: [
      `--metrics-bind-address=127.0.0.1:${grouperPort}`,
      `--health-probe-bind-address=127.0.0.1:${grouperHealth}`,
    ],
    podgroupcontroller: [`--health-probe-bind-address=127.0.0.1:${groupHealth}`, "--enable-podgroup-webhook=false"],
    queuecontroller: [`--metrics-listen-address=127.0.0.1:${queuePort}`, "--enable-webhook=false"],
    binder: [`--metrics-bind-address=127.0.0.1:${binderPort}`, `--health-probe-bind-address=127.0.0.1:${binderHealth}`],
  };
  const all = programs.map((name) => {
    const environment = { GOMAXPROCS: "2", KUBECONFIG: kubeconfig };
    return [name, new Program(folder, join(assets, name), flags[name], environment)] as const;
  });
  const page = (port: number | undefined) => async () => await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  const answers = (address: string) => async () => (await fetch(`http://127.0.0.1:${address}`)).status;
  const probes: Readonly<Record<(typeof programs)[number], string>> = {
    scheduler: `${schedulerPort}/metrics`,
    podgrouper: `${grouperHealth}/readyz`,
    podgroupcontroller: `${groupHealth}/readyz`,
    queuecontroller: `${queuePort}/metrics`,
    binder: `${binderPort}/metrics`,
  };
  const stop = async (): Promise<void> => {
    await Promise.all(all.map(([, program]) => program.kill()));
    await rm(folder, { recursive: true, force: true });
  };
  try {
    await createDefinitions(admin, join(assets, "crds"));
    await admin.send(
      "POST",
      "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
      crdObject("kubeflow.org", "PyTorchJob", "pytorchjobs"),
    );
    for (const priority of z.array(named).parse(await yamlDocuments(join(assets, "priorityclasses")))) {
      await admin.send("POST", "/apis/scheduling.k8s.io/v1/priorityclasses", priority);
    }
    for (const name of ["kai-scheduler", "kai-resource-reservation", "kai-scale-adjust"]) {
      await admin.send("POST", "/api/v1/namespaces", { metadata: { name } });
    }
    for (const [, program] of all) program.start();
    await Promise.all(all.map(([name, program]) => program.ready(answers(probes[name]))));
    return {
      schedulerPage: page(schedulerPort),
      queuePage: page(queuePort),
      logTail: async () =>
        (await Promise.all(all.map(async ([name, program]) => `${name}:\n${await program.logTail()}`))).join("\n"),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
