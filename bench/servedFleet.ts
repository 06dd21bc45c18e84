import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Fleet, startFleet } from "./fleet/fleet.ts";
import type { QuestionOptions } from "./question.ts";
import { serveCommand, untilReady } from "./serve.ts";

/** `fairlead serve` on a fleet, ready. */
export interface ServedFleet {
  readonly fleet: Fleet;
  /** A folder for files; it is removed in the end. */
  readonly folder: string;
  /** Base URL of what is served. */
  readonly url: string;
  stop(): Promise<void>;
}

export interface ServedFleetOptions extends Pick<QuestionOptions, "nodes" | "helpers"> {
  /** Seconds between two cycles. */
  readonly interval: number;
  readonly port: number;
  readonly probePort: number;
}

/** Starts a fleet and `fairlead serve` on it, and waits until it is ready. */
export async function startServedFleet(options: ServedFleetOptions): Promise<ServedFleet> {
  const { nodes, helpers, interval, port, probePort } = options;
  const folder = mkdtempSync(join(tmpdir(), "fairlead-bench-"));
  const fleet = await startFleet(nodes);
  for (const pid of fleet.pids) helpers.add(pid);
  const config = `interval: ${interval}\n`;
  const [program = "", ...args] = serveCommand({ folder, apiUrl: fleet.apiUrl, port, probePort, config });
  const served = spawn(program, args, { stdio: "ignore" });
  if (served.pid !== undefined) helpers.add(served.pid);
  const stop = async (): Promise<void> => {
    served.kill();
    fleet.stop();
    if (served.exitCode === null && served.signalCode === null) await once(served, "exit");
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    await untilReady(served, probePort);
  } catch (error) {
    await stop();
    throw error;
  }
  return { fleet, folder, url: `http://127.0.0.1:${port}`, stop };
}
