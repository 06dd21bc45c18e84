import { setTimeout as wait } from "node:timers/promises";
import { z } from "zod";
import { until } from "../servers/kubernetesAdmin.ts";
import type { FairleadPod } from "./fairlead.ts";
import type { RealNode } from "./realNode.ts";

/** Who holds which GPU: `namespace/pod` by UUID. */
export type HeldGpus = Readonly<Record<string, string>>;

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
export async function heldByKubelet(node: RealNode): Promise<HeldGpus> {
  const held = heldSchema.parse(JSON.parse(await node.get(`${telemetry}/held`)));
  return sorted(Object.entries(held).map(([uuid, { namespace, pod }]) => [uuid, `${namespace}/${pod}`]));
}

/** Makes a GPU (`gpu-0`) ill, or well again. */
export async function setHealth(node: RealNode, gpu: string, state: "unhealthy" | "healthy"): Promise<void> {
  await node.post(`${telemetry}/health/${gpu}/${state}`);
}

const sorted = (entries: readonly (readonly [string, string])[]): HeldGpus =>
  Object.fromEntries(entries.toSorted(([a], [b]) => (a < b ? -1 : 1)));

/** What Fairlead's last cycle says, and when that was. */
export async function heldByFairlead(pod: FairleadPod): Promise<{ at: number; gpus: number; held: HeldGpus }> {
  const { at, items } = devicesSchema.parse(JSON.parse(await pod.ask("/api/v1/devices")));
  const entries = items.flatMap(({ uuid, holders }) =>
    holders.map((by): readonly [string, string] => [
      uuid ?? "?",
      `${by.namespace}/${by.pod}${by.share === 1 ? "" : ` ${by.share}`}`,
    ]),
  );
  return { at: Date.parse(at), gpus: items.length, held: sorted(entries) };
}

/** How long Fairlead may say what was so before: a scrape, a watch and a cycle are not at the same moment. */
const lagSeconds = 3;

/**
 * Compares every cycle of Fairlead with what the kubelet said then, while tests let pods come and go. A cycle may say what
 * the kubelet has said within the last seconds.
 */
export class ComparedCycles {
  readonly #node: RealNode;
  readonly #pod: FairleadPod;
  readonly #said: { readonly at: number; readonly held: string }[] = [];
  readonly wrong: string[] = [];
  cycles = 0;
  #isOver = false;
  readonly #over: Promise<void>;

  constructor(node: RealNode, pod: FairleadPod) {
    this.#node = node;
    this.#pod = pod;
    this.#over = this.#compare();
  }

  /** Waits until both say the same, and for two more cycles. */
  async settled(wanted: (held: HeldGpus) => boolean): Promise<void> {
    await until("the kubelet says so", async () => wanted(await heldByKubelet(this.#node)));
    await until("Fairlead says what the kubelet says", async () => {
      const [kubelet, fairlead] = [await heldByKubelet(this.#node), (await heldByFairlead(this.#pod)).held];
      return JSON.stringify(kubelet) === JSON.stringify(fairlead);
    });
    const { cycles } = this;
    await until("two more cycles", () => this.cycles >= cycles + 2);
  }

  async end(): Promise<void> {
    this.#isOver = true;
    await this.#over;
  }

  async #compare(): Promise<void> {
    let last = 0;
    while (!this.#isOver) {
      await wait(100);
      const held = await heldByKubelet(this.#node).catch(() => null);
      // Nobody can be asked while the kubelet or the fake GPUs start anew: what was so goes on.
      if (held !== null) this.#said.push({ at: Date.now(), held: JSON.stringify(held) });
      const found = await heldByFairlead(this.#pod).catch(() => null);
      if (found === null || found.at === last) continue;
      last = found.at;
      this.cycles++;
      const then = this.#said.filter(({ at }, i) => i === this.#said.length - 1 || at > found.at - lagSeconds * 1000);
      const text = JSON.stringify(found.held);
      if (!then.some((said) => said.held === text))
        this.wrong.push(
          `${new Date(found.at).toISOString()}: ${text}, the kubelet: ${then.map((said) => said.held).join(" ")}`,
        );
    }
  }
}
