import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { networkInterfaces, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadWebConfig } from "../../exporter/config/webConfig.ts";
import { type ApiServer, startApiServer } from "./apiServer.ts";
import { type Block, blocksOf } from "./guideBlocks.ts";
import { type Admin, createAdmin, until } from "./kubernetesAdmin.ts";
import { installed } from "./program.ts";
import { serve } from "./served.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const guide = readFileSync(join(root, "docs/operations.md"), "utf8");
const blocks = blocksOf(guide);
const tested = blocks.filter(({ untested }) => untested === null);

/** An address of this machine at which the API server may look for a pod: it refuses the loopback one. */
const ownAddress = Object.values(networkInterfaces())
  .flat()
  .find((one) => one !== undefined && one.family === "IPv4" && !one.internal)?.address;

let api: ApiServer;
let admin: Admin;
let folder: string;
let environment: NodeJS.ProcessEnv;
let endExporter = async (): Promise<void> => {};

beforeAll(async () => {
  const [servers, helm, operator] = await Promise.all([
    installed("install-kube-servers.sh"),
    installed("install-helm.sh"),
    installed("install-operator-crds.sh"),
  ]);
  api = await startApiServer();
  admin = createAdmin(api);
  folder = mkdtempSync(join(tmpdir(), "fairlead-guide-"));
  cpSync(join(root, "deploy"), join(folder, "deploy"), { recursive: true });
  writeFileSync(join(folder, "kubeconfig"), api.kubeconfigFor(api.adminToken));
  const program = join(folder, "fairlead");
  writeFileSync(program, `#!/bin/sh\nexec ${process.execPath} ${join(root, "cli/main.ts")} "$@"\n`);
  chmodSync(program, 0o755);
  environment = {
    ...process.env,
    PATH: `${folder}:${servers}:${helm}:${process.env.PATH ?? ""}`,
    KUBECONFIG: join(folder, "kubeconfig"),
    HOME: folder,
  };
  await shell(`kubectl create --filename ${join(operator, "prometheus-operator")}`);
}, 300_000);

afterAll(async () => {
  await endExporter();
  await admin.close();
  await api.stop();
  rmSync(folder, { recursive: true, force: true });
});

interface Said {
  readonly out: string;
  readonly err: string;
  readonly status: unknown;
}

/** Runs commands as a reader would who stops at the first that fails. */
async function shell(commands: string): Promise<Said> {
  const child = spawn("bash", ["-euo", "pipefail", "-c", commands], { cwd: folder, env: environment });
  let [out, err] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    out += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    err += text;
  });
  const [status] = await once(child, "close");
  return { out, err, status };
}

describe("docs/operations.md", () => {
  it("has commands, and says for each block that is not run why", () => {
    expect(tested.length).toBeGreaterThan(15);
    for (const { text, untested } of blocks) {
      // Whatever could be run is: what is excused needs a kubelet, a controller or a container engine.
      if (untested !== null) expect(`${untested}\n${text}`).toMatch(/kubelet|controller|container engine/);
    }
  });

  it("installs, looks, upgrades, backs up, restores and uninstalls with its commands as printed", async () => {
    for (const block of tested) {
      if (block.text.includes("pods/fairlead-0:10836")) await standInForPod();
      const { out, err, status } = await shell(block.text);
      expect(
        status,
        `${block.text}
${out}${err}`,
      ).toBe(0);
      await seen(block, out);
    }
  }, 300_000);

  it("has an install command in the README that the chart accepts", async () => {
    const readme = readFileSync(join(root, "README.md"), "utf8");
    const command = /^helm install (?:.*\\\n)*.*$/m.exec(readme)?.[0] ?? "";
    expect(command).toContain("config.cluster=");
    const { out, err, status } = await shell(command.replace("helm install", "helm template"));
    expect(status, err).toBe(0);
    expect(out).toMatch(/image: "?registry\.example\.org\/team\/fairlead:/);
  });
});

/** What a reader would look for in the answers. */
async function seen({ text }: Block, out: string): Promise<void> {
  if (text.startsWith("helm install")) expect(out).toContain("statefulset.apps/fairlead");
  if (text.includes("proxy/readyz")) {
    expect(out).toBe("ok\n");
    expect(JSON.parse(readFileSync(join(folder, "problems.json"), "utf8"))).toHaveProperty("items");
  }
  if (text.includes("ledger check")) expect(out).toMatch(/sound|close/);
  if (text.includes("auth can-i")) expect(out.trimEnd().split("\n").at(-1)).toBe("no");
  if (text.includes("--set-file prometheus.rules.content"))
    expect(await admin.names("/apis/monitoring.coreos.com/v1/namespaces/fairlead/prometheusrules")).toEqual([
      "fairlead",
    ]);
  if (text.includes("web-config.yml")) {
    const loaded = await loadWebConfig(join(folder, "web-config.yml"));
    expect(loaded).toMatchObject({ ok: true });
  }
  if (text.includes("jsonpath='{.data.fairlead")) expect(out).toMatch(/^cluster: harbor$/m);
  if (text.includes("kubectl delete")) await finishNamespace();
  if (text.startsWith("helm uninstall"))
    expect(await admin.names("/apis/apps/v1/namespaces/fairlead/statefulsets")).toEqual([]);
}

/** A deleted namespace stays until a controller has emptied it, which is not here. */
async function finishNamespace(): Promise<void> {
  const found = await admin.send("GET", "/api/v1/namespaces/fairlead").catch(() => null);
  if (found === null || !("deletionTimestamp" in found.metadata)) return;
  await admin.send("PUT", "/api/v1/namespaces/fairlead/finalize", { ...found, spec: { finalizers: [] } });
}

/**
 * No kubelet starts the StatefulSet's pod: here is a pod by its name, and a Fairlead behind its address that runs with the
 * token of the account that was installed.
 */
async function standInForPod(): Promise<void> {
  if ((await admin.names("/api/v1/namespaces/fairlead/pods")).includes("fairlead-0")) return;
  if (ownAddress === undefined) throw new Error("this machine has no address but the loopback one");
  const container = { name: "fairlead", image: "fairlead", ports: [{ name: "http", containerPort: 10836 }] };
  const pod = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "fairlead-0" },
    spec: { nodeName: "elsewhere", containers: [container] },
  };
  const created = await admin.send("POST", "/api/v1/namespaces/fairlead/pods", pod);
  await admin.send("PUT", "/api/v1/namespaces/fairlead/pods/fairlead-0/status", {
    ...pod,
    metadata: { name: "fairlead-0", resourceVersion: created.metadata.resourceVersion },
    status: { phase: "Running", podIP: ownAddress, podIPs: [{ ip: ownAddress }] },
  });
  const token = (await shell("kubectl --namespace fairlead create token fairlead")).out.trim();
  const kubeconfig = join(folder, "account.yaml");
  const config = join(folder, "served.yaml");
  writeFileSync(kubeconfig, api.kubeconfigFor(token));
  writeFileSync(
    config,
    `interval: 1\nkubernetes: { kubeconfig: ${kubeconfig} }\nledger: { path: ${join(folder, "served.db")} }\n`,
  );
  // The guide's commands name the port that serve takes by itself.
  const served = await serve(config, []);
  endExporter = async () => void (await served.stop());
  const isReady = async (): Promise<boolean> =>
    (await fetch("http://127.0.0.1:10836/readyz").catch(() => null))?.ok === true;
  await until(`Fairlead is ready: ${served.log()}`, isReady);
}
