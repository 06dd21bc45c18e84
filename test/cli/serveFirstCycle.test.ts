import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { gpuNode } from "../../simulator/scenarios/parts.ts";
import { startSimulator } from "../../simulator/simulator.ts";
import { readPage } from "../publish/readPage.ts";
import { until } from "../servers/kubernetesAdmin.ts";
import { serve } from "../servers/served.ts";
import { one, smallCluster } from "../simulator/smallCluster.ts";

it("serves nothing before its first cycle, which has telemetry", async () => {
  const nodes = ["n1", "n2"].map((name) => gpuNode(name, "A100", 4, { kind: "whole" }, { featureDiscovery: false }));
  const scenario = smallCluster([one("Job", 8)], { nodes });
  const simulator = await startSimulator({ scenario, seed: 7, startAt: Math.floor(Date.now() / 1000) });
  const folder = await mkdtemp(join(tmpdir(), "fairlead-serve-first-"));
  await writeFile(join(folder, "kubeconfig.yaml"), simulator.kubeconfig());
  const file = join(folder, "fairlead.yaml");
  await writeFile(file, `kubernetes: { kubeconfig: ${join(folder, "kubeconfig.yaml")} }\n`);
  const served = await serve(file);
  try {
    await until("ready", async () => (await fetch(`${served.url}/readyz`)).ok, 100);
    const page = readPage(await (await fetch(`${served.url}/metrics`)).text());
    const states = page.filter(({ name, value }) => name === "fairlead_gpus" && value > 0);
    // The next cycle is half a minute away.
    expect(
      page.find(({ name, labels }) => name === "fairlead_cycles_total" && labels.get("result") === "ok")?.value,
    ).toBe(1);
    // Each of the 8 pods keeps its GPU busy for four fifths of the time.
    expect(states.map(({ labels, value }) => [labels.get("pool"), labels.get("state"), value])).toEqual([
      ["A100-SXM4-80GB", "active", expect.closeTo(6.4)],
      ["A100-SXM4-80GB", "underutilized", expect.closeTo(1.6)],
    ]);
    expect(page.filter(({ name, labels }) => name === "fairlead_problems" && labels.get("source") === "dcgm")).toEqual(
      [],
    );
  } finally {
    await served.stop();
    await simulator.stop();
    await rm(folder, { recursive: true, force: true });
  }
});
