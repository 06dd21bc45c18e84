import { readdirSync, readFileSync, statSync } from "node:fs";
import { createServer, type Server } from "node:http";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { documentSchema } from "../../../exporter/publish/document/schema.ts";
import { fairlead } from "../adviseAgainst.ts";
import { documentOfDump } from "../dumpFolder.ts";
import { type CapturedCluster, startCluster } from "./capturedCluster.ts";
import { numbersOf } from "./numbersOf.ts";

let cluster: CapturedCluster;
let dump: string;

beforeAll(async () => {
  cluster = await startCluster();
  dump = path.join(cluster.folder, "dump");
  const { code, err } = await fairlead("capture", dump, "--kubeconfig", cluster.kubeconfig);
  expect([code, code === 0 ? "" : err]).toEqual([0, ""]);
});

describe("fairlead capture", () => {
  it("writes what inspect reads: the same numbers as fairlead now", async () => {
    const { code, out } = await fairlead("now", "--kubeconfig", cluster.kubeconfig, "-o", "json");
    expect(code).toBe(0);
    const now = documentSchema.parse(JSON.parse(out));
    // A dump's own time is that of its objects, which is simulated here.
    const captured = await documentOfDump(dump, "--at", now.at);
    expect(captured.pools.reduce((sum, { physicalGpus }) => sum + physicalGpus, 0)).toBe(176);
    for (const part of ["teams", "queues", "nodes", "devices"] as const)
      expect(numbersOf(captured[part]), part).toEqual(numbersOf(now[part]));
    expect(captured.problems.filter(({ source }) => source === "inspect")).toEqual([]);
  });

  it("leaves files that only their owner reads, each kind and each exporter's page in one", () => {
    const names = readdirSync(dump);
    expect(names).toEqual(expect.arrayContaining(["pods.json", "workloads.kueue.x-k8s.io.json", "h100-01.prom"]));
    expect(names.filter((name) => /secret|configmap/i.test(name))).toEqual([]);
    expect(new Set(names.map((name) => statSync(path.join(dump, name)).mode & 0o777))).toEqual(new Set([0o600]));
    expect(statSync(dump).mode & 0o777).toBe(0o700);
    expect(readFileSync(path.join(dump, "about.txt"), "utf8")).toMatch(
      /^Taken at 20\d\d-.* by fairlead .* capture\.\n/,
    );
  });

  it("does not write into a folder that has something", async () => {
    const { code, err } = await fairlead("capture", dump, "--kubeconfig", cluster.kubeconfig);
    expect([code, err]).toEqual([1, expect.stringContaining(`${dump} is not empty\nNext step: `)]);
  });

  it("says what is missing, and writes the rest", async () => {
    const off = [
      cluster.simulator.fault({ kind: "api-forbidden", resource: "poddisruptionbudgets" }),
      cluster.simulator.fault({ kind: "exporter-error", target: { node: "h100-03" } }),
    ];
    const folder = path.join(cluster.folder, "partial");
    const { code, err } = await fairlead("capture", folder, "--kubeconfig", cluster.kubeconfig);
    for (const end of off) end();
    expect(code).toBe(0);
    expect(err).toContain("missing: You may not list poddisruptionbudgets.policy");
    expect(err).toMatch(
      /missing: gpu-operator\/nvidia-dcgm-exporter-\w+ gives no page through the API server: HTTP 500/,
    );
    expect(readdirSync(folder)).not.toContain("h100-03.prom");
  });

  it("asks for no Secret and no ConfigMap, and never changes anything", async () => {
    const asked: string[] = [];
    const proxy = await recordingProxy(cluster.simulator.apiUrl, asked);
    const folder = path.join(cluster.folder, "recorded");
    const { code } = await fairlead("capture", folder, "--kubeconfig", await proxy.kubeconfig(cluster));
    expect(code).toBe(0);
    expect(asked.length).toBeGreaterThan(50);
    expect(asked.filter((line) => !line.startsWith("GET ") || /\/(secrets|configmaps)\b/.test(line))).toEqual([]);
  });
});

/** Passes requests on to the API, and notes them. */
async function recordingProxy(apiUrl: string, asked: string[]) {
  const server: Server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    void fetch(`${apiUrl}${request.url}`).then(async (answer) => {
      response.writeHead(answer.status, { "content-type": answer.headers.get("content-type") ?? "text/plain" });
      response.end(Buffer.from(await answer.arrayBuffer()));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  afterAll(() => server.close());
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return {
    kubeconfig: async ({ simulator, folder }: CapturedCluster): Promise<string> => {
      const file = path.join(folder, "proxied");
      const { writeFileSync } = await import("node:fs");
      writeFileSync(file, simulator.kubeconfig().replaceAll(simulator.apiUrl, `http://127.0.0.1:${port}`));
      return file;
    },
  };
}
