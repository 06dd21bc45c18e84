import type { Device, NodeView, Snapshot } from "../../join/snapshot.ts";
import { inRanges, keepShape } from "../../kernel/inRanges.ts";
import { oncePer } from "../../kernel/once.ts";
import type { CareTier, HealthCause, UnavailableCause } from "../../model/gpuFaults.ts";
import { dcgmFails, degradedCause, unhealthyCause } from "./causes.ts";

/** A GPU that needs care. */
export interface SickGpu {
  readonly node: string;
  readonly nodePool: string;
  readonly pool: string;
  /** UUID of the GPU; `null` for a GPU that nothing identifies. */
  readonly uuid: string | null;
  readonly tier: CareTier;
  readonly cause: HealthCause;
  /** Physical GPUs: 1, or the parts of a GPU that are instances. */
  readonly gpus: number;
}

/** Faults that end the work on a GPU, or corrupt it: the holder of such a GPU loses its work. */
const endsWork: ReadonlySet<UnavailableCause> = new Set(["gpu_lost", "ecc", "remap_failed", "nvlink", "gpu_reset"]);

/** The value of DCGM_HEALTH_RESULT_WARN. */
const dcgmWarns = 10;

/**
 * The GPUs of ready nodes that need care, and how soon. `drain`: work is on a GPU that the API has taken out for a fault that
 * ends it, or a GPU whose memory cannot be repaired is still given out. `today`: a GPU cannot be used, and waits for repair.
 * `watch`: it works, and may get worse. A last XID error alone is no reason, because it stays on the page until the exporter
 * restarts.
 */
export const findSickGpus = oncePer((snapshot: Snapshot): readonly SickGpu[] => {
  const sick = new SickGpus(snapshot);
  inRanges(snapshot.nodes.length, sick);
  return [...sick.found.values()];
});

class SickGpus {
  readonly found = new Map<string, SickGpu>();
  readonly #snapshot: Pick<Snapshot, "nodes" | "devices">;

  constructor(snapshot: Pick<Snapshot, "nodes" | "devices">) {
    this.#snapshot = snapshot;
  }

  addRange(from: number, to: number): void {
    const { nodes } = this.#snapshot;
    for (let at = from; at < to; at++) {
      const node = nodes[at];
      if (node !== undefined && node.ready !== false) this.#addNode(node);
    }
  }

  #addNode(node: NodeView): void {
    const { devices } = this.#snapshot;
    for (const index of node.devices) {
      const device = devices[index];
      const care = device === undefined ? null : careOf(device, node, devices);
      if (device !== undefined && care !== null) add(this.found, node, device, index, care);
    }
  }
}

keepShape(new SickGpus({ nodes: [], devices: [] }));

type Care = Pick<SickGpu, "tier" | "cause">;

function careOf(device: Device, node: NodeView, devices: Snapshot["devices"]): Care | null {
  const { unhealthy, holders, reading } = device;
  if (unhealthy) {
    const cause = unhealthyCause(device, node, devices);
    return { cause, tier: endsWork.has(cause) && holders.length > 0 ? "drain" : "today" };
  }
  if (reading === null) return null;
  if ((reading.rowRemapFailure ?? 0) > 0) return { cause: "remap_failed", tier: "drain" };
  const health = reading.dcgmHealth ?? 0;
  if (health >= dcgmFails) return { cause: "dcgm_health", tier: "today" };
  if ((reading.rowRemapPending ?? 0) > 0) return { cause: "remap_pending", tier: "watch" };
  if (health >= dcgmWarns) return { cause: "dcgm_health", tier: "watch" };
  const slow = device.idleNow === false && holders.length > 0 ? degradedCause(reading) : null;
  return slow === null ? null : { cause: slow, tier: "watch" };
}

/** Adds the care for a device. Instances of one GPU count as one, with the most urgent care. */
function add(sick: Map<string, SickGpu>, node: NodeView, device: Device, index: number, care: Care): void {
  const key = `${node.name}\u0000${device.uuid ?? index}`;
  const known = sick.get(key);
  const isWorse = known === undefined || urgency[care.tier] < urgency[known.tier];
  sick.set(key, {
    node: node.name,
    nodePool: node.nodePool,
    pool: device.pool,
    uuid: device.uuid,
    ...(isWorse ? care : { tier: known.tier, cause: known.cause }),
    gpus: (known?.gpus ?? 0) + device.weight,
  });
}

const urgency: Readonly<Record<CareTier, number>> = { drain: 0, today: 1, watch: 2 };
