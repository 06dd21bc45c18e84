import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { FleetCommand, FleetReply } from "./ipc.ts";

/** A cluster on loopback, run by two other processes. */
export interface Fleet {
  readonly nodes: number;
  /** Base URL of the API server. */
  readonly apiUrl: string;
  /** Port of all exporters, each on its node's address (`nodeAddress`). */
  readonly exporterPort: number;
  readonly pids: readonly number[];
  /** Changes 1 % of the pods. Returns the number of events and the version of the last one. */
  advance(cycle: number): Promise<{ readonly events: number; readonly version: string }>;
  /** Ends all connections to exporters. */
  closeConnections(): Promise<void>;
  stop(): void;
}

/** Starts the exporters and an API server for this many nodes. */
export async function startFleet(nodes: number): Promise<Fleet> {
  const exporters = start("exporters.ts", [String(nodes)]);
  const exporterPort = (await nextReply(exporters, "listening")).port;
  const api = start("apiServer.ts", [String(nodes), String(exporterPort)]);
  const apiPort = (await nextReply(api, "listening")).port;
  const order = async <Type extends FleetReply["type"]>(child: ChildProcess, command: FleetCommand, reply: Type) => {
    const answer = nextReply(child, reply);
    child.send(command);
    return await answer;
  };
  return {
    nodes,
    apiUrl: `http://127.0.0.1:${apiPort}`,
    exporterPort,
    pids: [exporters.pid ?? 0, api.pid ?? 0],
    advance: async (cycle) => {
      await order(exporters, { type: "advance", cycle }, "advanced");
      return await order(api, { type: "advance", cycle }, "advanced");
    },
    closeConnections: async () => {
      await order(exporters, { type: "close" }, "closed");
    },
    stop: () => {
      exporters.kill();
      api.kill();
    },
  };
}

function start(file: string, args: readonly string[]): ChildProcess {
  const path = fileURLToPath(new URL(file, import.meta.url));
  return fork(path, args, { execArgv: [], stdio: ["ignore", "inherit", "inherit", "ipc"] });
}

async function nextReply<Type extends FleetReply["type"]>(
  child: ChildProcess,
  type: Type,
): Promise<Extract<FleetReply, { readonly type: Type }>> {
  const ended = new AbortController();
  const end = (): void => ended.abort();
  child.once("exit", end);
  try {
    const [message] = await once(child, "message", { signal: ended.signal });
    if (isReply(message, type)) return message;
  } finally {
    child.off("exit", end);
  }
  throw new Error(`a process of the fleet did not say ${type}`);
}

function isReply<Type extends FleetReply["type"]>(
  message: unknown,
  type: Type,
): message is Extract<FleetReply, { readonly type: Type }> {
  return typeof message === "object" && message !== null && "type" in message && message.type === type;
}
