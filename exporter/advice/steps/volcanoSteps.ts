import type { QueueView, QuotaDomain } from "../../join/queues/queueing.ts";
import type { Snapshot } from "../../join/snapshot.ts";
import { gpuLikeResource } from "../../model/gpuResource.ts";
import type { ResourceAmounts } from "../../model/node.ts";
import type { VolcanoQueue } from "../../model/queues/volcano.ts";
import { gpuResources } from "../../model/wellKnown.ts";
import { guardedPatch, isWholeGpu, type QuotaChange, queueTarget, setAt, wholeGpus } from "./queuePatch.ts";
import { allSteps, noSteps, type PatchOperation, type StepsFound, stepOf, volcanoCommand } from "./step.ts";

const target = (queue: VolcanoQueue) =>
  queueTarget("Queue", queue, { apiVersion: "scheduling.volcano.sh/v1beta1", resource: "queues" });

const queueOf = ({ queueObjects }: Snapshot, name: string): VolcanoQueue | undefined =>
  queueObjects.volcanoQueues.find((queue) => queue.name === name);

/** Where each amount is in the object of a queue. */
const places = {
  guarantee: ["spec", "guarantee", "resource"],
  deserved: ["spec", "deserved"],
  capability: ["spec", "capability"],
} as const;

type Amount = keyof typeof places;

const amountNames = ["guarantee", "deserved", "capability"] as const;

/** The operation that sets an amount of a resource, whether or not the object has this kind of amount yet. */
function setAmount(queue: VolcanoQueue, which: Amount, resource: string, amount: number): PatchOperation {
  const value = String(amount);
  if (queue[which] !== null) return setAt([...places[which], resource], value);
  // `guarantee` may exist without `resource`, which is its only member.
  if (which === "guarantee")
    return { op: "add", at: ["spec", "guarantee"], value: { resource: { [resource]: value } } };
  return { op: "add", at: places[which], value: { [resource]: value } };
}

function testsOf(queue: VolcanoQueue, resource: string): readonly PatchOperation[] {
  return amountNames.flatMap((which): readonly PatchOperation[] => {
    const old = amountIn(queue[which], resource);
    return old === null ? [] : [{ op: "test", at: [...places[which], resource], value: String(old) }];
  });
}

function amountIn(amounts: ResourceAmounts | null, resource: string): number | null {
  return amounts !== null && Object.hasOwn(amounts, resource) ? (amounts[resource] ?? null) : null;
}

/**
 * Changes the guarantee of a queue of Volcano (`deserved` under plugin capacity, `guarantee` under proportion) and its limit
 * (`capability`), and keeps guarantee <= deserved <= capability, which its webhook demands.
 */
export function volcanoQuotaSteps(
  snapshot: Snapshot,
  view: QueueView,
  domain: QuotaDomain,
  to: QuotaChange,
): StepsFound {
  const queue = queueOf(snapshot, view.name);
  if (queue === undefined) return noSteps(`Queue ${view.name} is not there any more`);
  const resource = gpuResourceOf(queue);
  if (resource === null) return noSteps(`Queue ${view.name} has amounts of more than one GPU resource`);
  if (!isWholeGpu(snapshot, domain, resource))
    return noSteps(`${resource} is not a whole GPU on all nodes of ${domain.name}`);
  const old = oldAmounts(queue, resource);
  // The plugin by which the queue was judged: it comes from volcano-scheduler.conf, or else from the configuration.
  const plugin = view.guaranteeIsFloor === true ? "proportion" : "capacity";
  const wanted = wantedAmounts(old, plugin, to);
  if (typeof wanted === "string") return noSteps(wanted);
  const sure = Math.max(wanted.guarantee ?? 0, wanted.deserved ?? 0);
  if (wanted.capability !== null && sure > wanted.capability)
    return noSteps(`it would be sure of ${sure} ${resource} and could hold only ${wanted.capability}`);
  const changed = amountNames.filter((which) => wanted[which] !== old[which]);
  if (changed.length === 0) return noSteps(`Queue ${view.name} has these amounts already`);
  const operations = changed.map((which): PatchOperation => {
    const amount = wanted[which];
    if (amount === null) return { op: "remove", at: [...places[which], resource] };
    return setAmount(queue, which, resource, amount);
  });
  const said = changed.map((which) => `${places[which].join(".")} ${wanted[which] ?? "without a limit"}`);
  const title = `Set ${resource} of Queue ${view.name}: ${said.join(", ")}`;
  const more = to.guaranteed === undefined ? "" : `The scheduler runs plugin ${plugin}.`;
  return allSteps([guardedPatch(target(queue), title, operations, testsOf(queue, resource), more)]);
}

/** Amounts in units of one resource; `null`: the object has no such amount. */
type VolcanoAmounts = Readonly<Record<Amount, number | null>>;

const oldAmounts = (queue: VolcanoQueue, resource: string): VolcanoAmounts => ({
  guarantee: amountIn(queue.guarantee, resource),
  deserved: amountIn(queue.deserved, resource),
  capability: amountIn(queue.capability, resource),
});

function wantedAmounts(
  old: VolcanoAmounts,
  plugin: "proportion" | "capacity",
  { guaranteed, limit }: QuotaChange,
): VolcanoAmounts | string {
  let { guarantee, deserved, capability } = old;
  if (guaranteed !== undefined) {
    const amount = wholeGpus(guaranteed);
    if (amount === null) return `${guaranteed} is no whole number of GPUs`;
    if (plugin === "capacity") {
      deserved = amount;
      if (guarantee !== null) guarantee = Math.min(guarantee, amount);
    } else {
      guarantee = amount;
      if (deserved !== null) deserved = Math.max(deserved, amount);
    }
  }
  if (limit === Number.POSITIVE_INFINITY) capability = null;
  else if (limit !== undefined) {
    capability = wholeGpus(limit);
    if (capability === null) return `${limit} is no whole number of GPUs`;
  }
  return { guarantee, deserved, capability };
}

/** The only GPU resource for which the queue has amounts; whole GPUs of NVIDIA if it has none; `null` if there are several. */
function gpuResourceOf({ guarantee, deserved, capability }: VolcanoQueue): string | null {
  const names = new Set(
    [guarantee, deserved, capability].flatMap((amounts) =>
      Object.keys(amounts ?? {}).filter((name) => gpuLikeResource(name)),
    ),
  );
  const [first = gpuResources.nvidia, ...others] = names;
  return others.length > 0 ? null : first;
}

/** Lets Volcano take back what a queue holds above its guarantee. */
export function volcanoReclaimSteps(snapshot: Snapshot, name: string): StepsFound {
  const queue = queueOf(snapshot, name);
  if (queue === undefined) return noSteps(`Queue ${name} is not there any more`);
  if (queue.reclaimable) return noSteps(`Queue ${name} keeps nothing from being taken back`);
  const at = ["spec", "reclaimable"];
  return allSteps([
    guardedPatch(
      target(queue),
      `Let Volcano take back what Queue ${queue.name} borrows (spec.reclaimable true)`,
      [
        { op: "test", at, value: false },
        { op: "replace", at, value: true },
      ],
      [],
      "The scheduler's action reclaim is on: without it nothing is taken back.",
    ),
  ]);
}

/** Opens a queue that is closed. */
export function volcanoOpenSteps(snapshot: Snapshot, name: string): StepsFound {
  const queue = queueOf(snapshot, name);
  if (queue === undefined) return noSteps(`Queue ${name} is not there any more`);
  const revision = queue.revision ?? null;
  if (revision === null) return noSteps(`the uid of Queue ${name} is not known`);
  if (queue.state === "Open") return noSteps(`Queue ${name} is open`);
  const { apiVersion, uid } = revision;
  return allSteps([
    stepOf(volcanoCommand("default", "OpenQueue", { apiVersion, kind: "Queue", name, uid }), {
      title: `Open Queue ${name}`,
      precondition: `Queue ${name} is still the same one (its uid: a command for another goes away unheard), and nobody closed it on purpose.`,
      waitFor: `Its state is Open.`,
    }),
  ]);
}
