import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { gpuNode } from "../../simulator/scenarios/parts.ts";
import { type Simulator, startSimulator } from "../../simulator/simulator.ts";
import { until } from "../servers/kubernetesAdmin.ts";
import { serve } from "../servers/served.ts";
import { one, smallCluster } from "../simulator/smallCluster.ts";

let simulator: Simulator;
let folder: string;
let config: string;

beforeAll(async () => {
  const nodes = ["n1", "n2"].map((name) => gpuNode(name, "A100", 4, { kind: "whole" }, { featureDiscovery: false }));
  const scenario = smallCluster([one("Job", 8)], { nodes });
  simulator = await startSimulator({ scenario, seed: 7, startAt: Math.floor(Date.now() / 1000) });
  folder = mkdtempSync(join(tmpdir(), "fairlead-serve-thread-"));
  writeFileSync(join(folder, "kubeconfig.yaml"), simulator.kubeconfig());
  config = join(folder, "fairlead.yaml");
  writeFileSync(
    config,
    `interval: 1\nkubernetes: { kubeconfig: ${join(folder, "kubeconfig.yaml")} }\nledger: { path: ${join(folder, "ledger.db")} }\n`,
  );
});
afterAll(async () => {
  await simulator.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** A port on which nobody listens now. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (typeof address !== "object" || address === null) throw new Error("no port");
  return address.port;
}

/** What a browser is answered that was led here by a name. */
function statusFor(host: string, url: string): Promise<number> {
  return new Promise((resolve, reject) => {
    request(`${url}/metrics`, { headers: { host }, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    })
      .on("error", reject)
      .end();
  });
}

describe("the thread that computes", () => {
  test("answers sixty questions at once, while probes and metrics are there at once", async () => {
    const probes = `127.0.0.1:${await freePort()}`;
    const served = await serve(config, ["--web.listen-address", "127.0.0.1:0", "--health-probe-bind-address", probes]);
    try {
      await until("ready", async () => (await fetch(`http://${probes}/readyz`)).ok, 100);
      expect((await fetch(`http://${probes}/metrics`)).status).toBe(404);
      expect(await statusFor("attacker.example", served.url)).toBe(421);
      expect(await statusFor("localhost", served.url)).toBe(200);
      const paths = ["/review", "/api/v1/explain?kind=node&name=n1", "/api/v1/snapshot"];
      let answered = 0;
      const asked = Array.from({ length: 60 }, async (_, at) => {
        const answer = await fetch(`${served.url}${paths[at % paths.length]}`);
        answered += 1;
        return answer;
      });
      for (let probe = 0; probe < 10; probe += 1) {
        expect((await fetch(`http://${probes}/livez`)).status).toBe(200);
        expect((await fetch(`${served.url}/livez`)).status).toBe(200);
        expect((await fetch(`${served.url}/metrics`)).status).toBe(200);
        expect(await (await fetch(`${served.url}/`)).text()).toContain('<section id="teams">');
        if (probe === 0) expect(answered).toBeLessThan(asked.length);
      }
      const answers = await Promise.all(asked);
      // A ledger that has just begun may have nothing to review yet.
      for (const { status } of answers) expect([200, 404]).toContain(status);
      await Promise.all(answers.map((answer) => answer.arrayBuffer()));
    } finally {
      expect(await served.stop()).toBe(0);
    }
    expect(served.log()).toContain('"msg":"ending"');
  });

  test("that has used up its memory ends the process with status 1, and says so", async () => {
    const main = fileURLToPath(new URL("../../cli/main.ts", import.meta.url));
    const where = ["--web.listen-address", "127.0.0.1:0"];
    const flags = ["--max-old-space-size=30", main, "serve", "--config.file", config, ...where];
    const child = spawn(process.execPath, flags, { stdio: ["ignore", "ignore", "pipe"] });
    let said = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      said += text;
    });
    const [status] = await once(child, "close");
    expect(said).toMatch(/the thread that reads, computes and writes has ended by itself: .*ERR_WORKER_OUT_OF_MEMORY/);
    expect(status).toBe(1);
  });

  test("that refuses to start says why, in the words of the command line", async () => {
    const bad = join(folder, "bad.yaml");
    writeFileSync(join(folder, "empty.yaml"), "apiVersion: v1\nkind: Config\nclusters: []\n");
    writeFileSync(bad, `kubernetes: { kubeconfig: ${join(folder, "empty.yaml")} }\n`);
    await expect(serve(bad)).rejects.toThrow(/serve ended with 1: fairlead: .*\nNext step: /s);
  });
});
