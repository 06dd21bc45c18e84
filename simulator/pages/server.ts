import type { IncomingMessage, ServerResponse } from "node:http";
import type { SimNode, World } from "../cluster/world.ts";
import { type ExporterTarget, type FaultBoard, faultsOf, type HostileContent, hits } from "../faults.ts";
import { type Reply, sendReply, textReply } from "../reply.ts";
import type { ExporterSpec } from "../scenario.ts";
import { dialects } from "./dialects.ts";
import { renderPage } from "./page.ts";

const defaultHostileMegabytes = 8;

/** The exporter of one node without a network: it is asked by calls. */
export interface ExporterServer {
  /** Whether nothing answers there. */
  isLost(): boolean;
  /** Milliseconds of real time that an answer takes. */
  delayMs(): number;
  /** The answer to a GET of a path without a query. */
  read(path: string): Reply;
}

/** Creates a server that answers `/metrics` and `/health` for one node's exporter, under the faults that are on. */
export function createExporterServer(
  world: World,
  node: SimNode,
  exporter: ExporterSpec,
  faults: FaultBoard,
): ExporterServer {
  const isHit = (fault: { readonly target: ExporterTarget }): boolean => hits(fault.target, node.spec.name);

  function metrics(): Reply {
    if (faultsOf(faults, "exporter-error").some(isHit)) {
      return textReply(500, "internal server error: failed to collect metrics\n");
    }
    return { code: 200, contentType: dialects[exporter.dialect].contentType, body: page() };
  }

  function page(): string | Buffer {
    if (faultsOf(faults, "exporter-empty").some(isHit)) return "";
    if (faultsOf(faults, "exporter-garbage").some(isHit)) return garbageBytes(node);
    const hostile = faultsOf(faults, "exporter-hostile").find(isHit);
    if (hostile !== undefined) {
      return hostilePage(world, node, hostile.content, hostile.megabytes ?? defaultHostileMegabytes);
    }
    const profilingStuck = faultsOf(faults, "profiling-stuck").some(isHit);
    return renderPage(node, exporter, { time: world.time, profilingStuck });
  }

  return {
    isLost: () => node.lost || faultsOf(faults, "exporter-reset").some(isHit),
    delayMs: () =>
      Math.max(
        0,
        ...faultsOf(faults, "exporter-slow")
          .filter(isHit)
          .map((fault) => fault.delayMs),
      ),
    read(path) {
      if (path === "/metrics") return metrics();
      return path === "/health" ? textReply(200, "OK") : textReply(404, "404 page not found\n");
    },
  };
}

/** A page of a node that lies or breaks formats, or is huge. */
function hostilePage(world: World, node: SimNode, content: HostileContent, megabytes: number): string {
  switch (content) {
    case "foreign-devices":
      return foreignDevices(world, node);
    case "label-injection":
      return labelInjection(node);
    case "huge":
      return huge(node, megabytes * 1024 * 1024);
  }
}

function header(name: string): string {
  return `# HELP ${name} GPU utilization (in %).\n# TYPE ${name} gauge\n`;
}

/** A page that claims the GPUs of all other nodes, under their names, as busy with a pod of its choice. */
function foreignDevices(world: World, node: SimNode): string {
  let page = header("DCGM_FI_DEV_GPU_UTIL");
  for (const other of world.nodes) {
    if (other === node) continue;
    for (const physicalGpu of other.physicalGpus) {
      const pod = `container="x",namespace="victim",pod="stolen"`;
      page += `DCGM_FI_DEV_GPU_UTIL{gpu="${physicalGpu.index}",UUID="${physicalGpu.uuid}",Hostname="${other.spec.name}",${pod}} 100\n`;
    }
  }
  return page;
}

/** Values with everything that could break out of a label, a line, a table, a shell or an object. */
const nastyValues: readonly string[] = [
  '\\"} 1\\nDCGM_FI_DEV_GPU_UTIL{gpu=\\"9',
  "<script>alert(1)</script>",
  "\\\\",
  "$(reboot)`reboot`;reboot",
  "a\\nb",
  "\u0000\u001b[31m\u202e",
  "{{ template }}",
  "x".repeat(20_000),
];

function labelInjection(node: SimNode): string {
  const uuid = node.physicalGpus[0]?.uuid ?? "GPU-0";
  let page = header("DCGM_FI_DEV_GPU_UTIL");
  for (const value of nastyValues) {
    page += `DCGM_FI_DEV_GPU_UTIL{gpu="0",UUID="${uuid}",Hostname="${value}",namespace="${value}",pod="${value}"} 50\n`;
  }
  for (const name of ["__proto__", "constructor", "toString", "__name__"]) {
    page += `DCGM_FI_DEV_GPU_UTIL{gpu="0",UUID="${uuid}",${name}="polluted",pod="__proto__",namespace="constructor"} 50\n`;
  }
  // These lines are not escaped: a quote and a line break in the middle of a value, an unclosed brace, and a label twice.
  page += `DCGM_FI_DEV_GPU_UTIL{gpu="0",UUID="${uuid}",pod="a"b"} 50\n`;
  page += `DCGM_FI_DEV_GPU_UTIL{gpu="0",UUID="${uuid}",pod="a\nb"} 50\n`;
  page += `DCGM_FI_DEV_GPU_UTIL{gpu="0",UUID="${uuid}",pod="a" 50\n`;
  page += `DCGM_FI_DEV_GPU_UTIL{gpu="0",UUID="${uuid}",UUID="GPU-twice"} 50\n`;
  return page;
}

/** Rows of devices that do not exist, up to a size: each one would cost a reader memory that it must not spend. */
function huge(node: SimNode, bytes: number): string {
  const lines = [header("DCGM_FI_DEV_GPU_UTIL")];
  let size = 0;
  for (let row = 0; size < bytes; row++) {
    const line = `DCGM_FI_DEV_GPU_UTIL{gpu="${row}",UUID="GPU-${row}",Hostname="${node.spec.name}",pod="p-${row}",namespace="n-${row}"} 1\n`;
    lines.push(line);
    size += line.length;
  }
  return lines.join("");
}

/** Bytes that are no text at all, always the same for one node. */
function garbageBytes(node: SimNode): Buffer {
  const bytes = Buffer.alloc(65_536);
  let state = node.exporterPort;
  for (let i = 0; i < bytes.length; i++) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    bytes[i] = state >>> 24;
  }
  return bytes;
}

/** Serves an exporter by HTTP. */
export function createExporterHandler(
  server: ExporterServer,
): (request: IncomingMessage, response: ServerResponse) => void {
  return (request, response) => {
    if (server.isLost()) request.socket.resetAndDestroy();
    else sendReply(response, server.delayMs(), () => server.read((request.url ?? "/").split("?")[0] ?? "/"));
  };
}
