import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll } from "vitest";
import type { Scenario } from "../../../simulator/scenario.ts";
import { demoScenario } from "../../../simulator/scenarios/demo.ts";
import { type Simulator, startSimulator } from "../../../simulator/simulator.ts";

/** A simulated cluster with its kubeconfig in a folder that goes away with the tests of the file. */
export interface CapturedCluster {
  readonly simulator: Simulator;
  readonly folder: string;
  readonly kubeconfig: string;
}

/** Starts the demo's cluster, or another one. */
export async function startCluster(scenario: Scenario = demoScenario()): Promise<CapturedCluster> {
  const simulator = await startSimulator({ scenario, seed: 1, startAt: 1_795_000_000 });
  const folder = mkdtempSync(path.join(tmpdir(), "fairlead-capture-"));
  const kubeconfig = path.join(folder, "config");
  writeFileSync(kubeconfig, simulator.kubeconfig());
  afterAll(async () => {
    await simulator.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  return { simulator, folder, kubeconfig };
}
