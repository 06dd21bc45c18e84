import { setTimeout as wait } from "node:timers/promises";
import { z } from "zod";
import { createRandomStream } from "../../simulator/random.ts";
import { until } from "../servers/kubernetesAdmin.ts";
import { FairleadPod } from "./fairlead.ts";
import type { RealNode } from "./realNode.ts";

/** What is ended, at a random moment. */
const targets = ["container", "pod", "node"] as const;
type Target = (typeof targets)[number];

/** One kill, and what it cost. */
export interface Kill {
  readonly target: Target;
  /** Seconds of cycles that the last answer before it knew, and that the ledger does not have. */
  readonly lostSeconds: number;
  /** Until it was ready again. */
  readonly downSeconds: number;
}

const namespace = "kills";
const interval = 1;
/** A cycle that is late is longer than the interval. */
const lateSeconds = 1;

const devicesSchema = z.object({ at: z.iso.datetime() });
const ledgerSchema = z.object({
  coverage: z.object({ gaps: z.array(z.object({ from: z.iso.datetime(), to: z.iso.datetime() })) }),
});

/**
 * Installs the chart, and ends its container, its pod or the whole node `count` times, each time at a moment that the seed
 * chooses, the three in turn. After each the ledger must open, be sound, and lack at most one cycle of those that were
 * answered; throws where it is not so.
 */
export async function killAtRandom(
  node: RealNode,
  { count, seed, say }: { count: number; seed: number; say: (line: string) => void },
): Promise<readonly Kill[]> {
  const random = createRandomStream(seed);
  const pod = new FairleadPod(node, namespace, "kills-fairlead-0");
  await node.run(
    `helm install kills deploy/helm/fairlead --namespace ${namespace} --create-namespace --wait --timeout 3m \
       --set config.interval=${interval}`,
  );
  const kills: Kill[] = [];
  for (let i = 0; i < count; i++) {
    const target = targets[i % targets.length] ?? "container";
    await wait(random.between(2000, 6000));
    const last = await lastCycle(pod);
    const began = Date.now();
    await end(node, target);
    await until(`${target} is back`, async () => (await isBack(pod, began)) === true);
    const kill = { target, lostSeconds: await lostOf(pod, last, began), downSeconds: (Date.now() - began) / 1000 };
    const checked = await pod.checkLedger();
    if (!checked.includes("sound, and the accounts close")) throw new Error(`after ${target}: ${checked}`);
    if (kill.lostSeconds > interval + lateSeconds) throw new Error(`after ${target}: ${kill.lostSeconds} s are lost`);
    kills.push(kill);
    say(`${i + 1} ${target}: lost ${kill.lostSeconds.toFixed(2)} s, back after ${kill.downSeconds.toFixed(0)} s`);
  }
  await node.run(`helm uninstall kills --namespace ${namespace} --wait && kubectl delete namespace ${namespace}`);
  return kills;
}

async function lastCycle(pod: FairleadPod): Promise<number> {
  return Date.parse(devicesSchema.parse(JSON.parse(await pod.ask("/api/v1/devices"))).at);
}

async function end(node: RealNode, target: Target): Promise<void> {
  if (target === "node") await node.cutPower();
  // Inside of the node's own process namespace, where no other Fairlead runs.
  else if (target === "container") await node.run("pkill -KILL -f /app/cli/main.js");
  else await node.run(`kubectl --namespace ${namespace} delete pod kills-fairlead-0 --grace-period=0 --force`);
}

/** A pod that is being ended may still answer: only a cycle after the kill shows that it is the next one. */
async function isBack(pod: FairleadPod, killed: number): Promise<boolean> {
  return (await pod.isReady()) && (await lastCycle(pod).catch(() => 0)) > killed + interval * 1000;
}

/** How much of the time up to the last answered cycle is in the gap that the kill has left. */
async function lostOf(pod: FairleadPod, last: number, killed: number): Promise<number> {
  const { coverage } = ledgerSchema.parse(JSON.parse(await pod.ask("/api/v1/ledger?from=1d")));
  const gap = coverage.gaps.find(({ to }) => Date.parse(to) > killed);
  if (gap === undefined) throw new Error(`no gap of the ledger ends after ${new Date(killed).toISOString()}`);
  return Math.max(0, (last - Date.parse(gap.from)) / 1000);
}
