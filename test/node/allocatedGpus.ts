import { setTimeout as wait } from "node:timers/promises";
import { z } from "zod";
import { until } from "../servers/kubernetesAdmin.ts";
import type { FairleadPod } from "./fairlead.ts";
import type { RealNode } from "./realNode.ts";

/** Who holds which GPU: `namespace/pod` by UUID. */
export type AllocatedGpus = Readonly<Record<string, string>>;

/** Who held which GPU, as the kubelet or Fairlead said at a moment (milliseconds). */
interface SaidAt {
  readonly at: number;
  readonly held: AllocatedGpus;
  /** GPUs by pod, by shares: where telemetry does not name the pods yet, a pod's GPUs may be spread over devices. */
  readonly counts: ReadonlyMap<string, number>;
}

const heldSchema = z.record(z.string(), z.object({ namespace: z.string(), pod: z.string() }));
const devicesSchema = z.object({
  at: z.iso.datetime(),
  items: z.array(
    z.object({
      uuid: z.string().nullable(),
      holders: z.array(z.object({ namespace: z.string(), pod: z.string(), share: z.number() })),
    }),
  ),
});

const telemetry = "/api/v1/namespaces/gpu-operator/services/nvidia-dcgm-exporter:9400/proxy";

/** What the kubelet's pod-resources API says; it is asked by the fake GPUs' pod. */
export async function allocatedByKubelet(node: RealNode): Promise<AllocatedGpus> {
  const held = heldSchema.parse(JSON.parse(await node.get(`${telemetry}/held`)));
  return sorted(Object.entries(held).map(([uuid, { namespace, pod }]) => [uuid, `${namespace}/${pod}`]));
}

/** Makes a GPU (`gpu-0`) ill, or well again. */
export async function setHealth(node: RealNode, gpu: string, state: "unhealthy" | "healthy"): Promise<void> {
  await node.post(`${telemetry}/health/${gpu}/${state}`);
}

const sorted = (entries: readonly (readonly [string, string])[]): AllocatedGpus =>
  Object.fromEntries(entries.toSorted(([a], [b]) => (a < b ? -1 : 1)));

/** What a cycle of Fairlead says. */
export interface SaidCycle extends SaidAt {
  /** How many there are. */
  readonly gpus: number;
}

/** What Fairlead's last cycle says, and when that was. */
export async function allocatedByFairlead(pod: FairleadPod): Promise<SaidCycle> {
  const { at, items } = devicesSchema.parse(JSON.parse(await pod.ask("/api/v1/devices")));
  const entries = items.flatMap(({ uuid, holders }) =>
    holders.map((by): readonly [string, string] => [
      uuid ?? "?",
      `${by.namespace}/${by.pod}${by.share === 1 ? "" : ` ${by.share}`}`,
    ]),
  );
  const holders = items.flatMap((item) => item.holders);
  const counts = countsOf(holders.map((by) => [`${by.namespace}/${by.pod}`, by.share]));
  return { at: Date.parse(at), gpus: items.length, held: sorted(entries), counts };
}

function countsOf(shares: readonly (readonly [pod: string, gpus: number])[]): ReadonlyMap<string, number> {
  const sums = new Map<string, number>();
  for (const [pod, gpus] of shares) sums.set(pod, (sums.get(pod) ?? 0) + gpus);
  return new Map([...sums].map(([pod, gpus]) => [pod, Math.round(gpus * 1e6) / 1e6]));
}

/**
 * How far Fairlead and the kubelet may be apart: a scrape, a watch and a cycle are not at the same moment, and a claim is
 * allocated before the kubelet prepares it.
 */
const apartMilliseconds = 5000;

/** Compares every cycle of Fairlead with what the kubelet said about then, while tests let pods come and go. */
export class ComparedCycles {
  readonly #node: RealNode;
  readonly #pod: FairleadPod;
  readonly #kubelet: SaidAt[] = [];
  readonly #cycles: SaidAt[] = [];
  #isOver = false;
  readonly #over: Promise<void>;

  constructor(node: RealNode, pod: FairleadPod) {
    this.#node = node;
    this.#pod = pod;
    this.#over = this.#listen();
  }

  get cycles(): number {
    return this.#cycles.length;
  }

  /** Waits until both have said the same of each GPU since now, and for two more cycles. */
  async settled(wanted: (held: AllocatedGpus) => boolean): Promise<void> {
    const now = Date.now();
    const last = (said: readonly SaidAt[]): AllocatedGpus | null => said.findLast(({ at }) => at >= now)?.held ?? null;
    await until("the kubelet says so", () => {
      const held = last(this.#kubelet);
      return held !== null && wanted(held);
    });
    await until("Fairlead says what the kubelet says", () => {
      const fairlead = last(this.#cycles);
      return fairlead !== null && JSON.stringify(fairlead) === JSON.stringify(last(this.#kubelet));
    });
    const { cycles } = this;
    await until("two more cycles", () => this.cycles >= cycles + 2);
  }

  /**
   * Ends the comparison; what a cycle said about a pod and the kubelet did not say at any time about then. Pod by pod: of two
   * that end together, one may be gone a moment before the other.
   */
  async end(): Promise<readonly string[]> {
    this.#isOver = true;
    await this.#over;
    return this.#cycles.flatMap(({ at, counts }) => {
      const before = this.#kubelet.findLast((said) => said.at <= at - apartMilliseconds);
      const about = this.#kubelet.filter((said) => Math.abs(said.at - at) < apartMilliseconds);
      const said = [...(before === undefined ? [] : [before]), ...about];
      const pods = new Set([counts, ...said.map((one) => one.counts)].flatMap((one) => [...one.keys()]));
      return [...pods].flatMap((pod) => {
        const gpus = counts.get(pod) ?? 0;
        const kubelet = new Set(said.map((one) => one.counts.get(pod) ?? 0));
        return kubelet.has(gpus)
          ? []
          : [`${new Date(at).toISOString()}: ${pod} ${gpus}; the kubelet: ${[...kubelet].join(" or ")}`];
      });
    });
  }

  async #listen(): Promise<void> {
    while (!this.#isOver) {
      await wait(250);
      // Nobody can be asked while the kubelet or the fake GPUs start anew: what was so goes on.
      const held = await allocatedByKubelet(this.#node).catch(() => null);
      if (held !== null)
        this.#kubelet.push({ at: Date.now(), held, counts: countsOf(Object.values(held).map((pod) => [pod, 1])) });
      const cycle = await allocatedByFairlead(this.#pod).catch(() => null);
      if (cycle !== null && cycle.at !== this.#cycles.at(-1)?.at) this.#cycles.push(cycle);
    }
  }
}
