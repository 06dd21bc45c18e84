import { describe, expect, it } from "vitest";
import { traceEntitlement } from "../../../exporter/analysis/fairness/traceEntitlement.ts";
import { whySentences } from "../../../exporter/publish/explain/whySentences.ts";
import {
  analysedKueue,
  type KueueCluster,
  modelNode,
  type Running,
} from "../../analysis/fairness/constructedCluster.ts";
import { gpuPod } from "../../join/clusterBuilder.ts";

const runs = (name: string, queue: string, node: string, gpus = 8): Running => ({
  name,
  queue,
  flavor: "any",
  node,
  gpus,
});

function whyOf(given: Partial<KueueCluster>, name: string): readonly string[] {
  const { snapshot, fairness } = analysedKueue({
    nodes: [modelNode("n1", 8, "H100"), modelNode("n2", 8, "H100")],
    flavors: { any: {} },
    queues: { a: { quotas: { any: 8 } }, b: { quotas: { any: 8 } } },
    ...given,
  });
  const { queueing } = snapshot;
  const index = queueing.queues.findIndex((queue) => queue.name === name);
  const trace = traceEntitlement(queueing, fairness, index);
  return trace === null ? [] : whySentences(trace, queueing);
}

const bWaits = [{ name: "waits", queue: "b", gpus: 8 }];
const aHoldsAll = [runs("a1", "a", "n1"), runs("a2", "a", "n2")];

describe("why a queue has what it has", () => {
  it("says who holds it, and that its scheduler takes it back", () => {
    expect(whyOf({ running: aHoldsAll, waiting: bWaits }, "b")).toEqual([
      "b misses 8.0 GPUs.",
      "8.0 are allocated to a above their own share, and its scheduler would take them back.",
      "a would have to give back 8.0 GPUs; `fairlead advise` says which work costs least.",
    ]);
    expect(whyOf({ running: aHoldsAll, waiting: bWaits }, "a")).toEqual([
      "a holds 16.0 GPUs and is entitled to 8.0: 8.0 are above its share, and would start work of b.",
      "It would have to give back 8.0 GPUs.",
    ]);
  });

  it("names the setting that keeps it there, and asks for that", () => {
    const queues = { a: { quotas: { any: 8 } }, b: { quotas: { any: 8 }, reclaim: "Never" } };
    const setting = "spec.preemption.reclaimWithinCohort of ClusterQueue b is Never";
    expect(whyOf({ queues, running: aHoldsAll, waiting: bWaits }, "b")).toEqual([
      "b misses 8.0 GPUs.",
      `8.0 are allocated to others above their share and stay there: ${setting}.`,
      "That setting would have to change.",
    ]);
  });

  it("blames no queue for a lost node, for pods past the queues, or for what is promised twice", () => {
    const lost = [modelNode("n1", 8, "H100"), modelNode("n2", 8, "H100", {}, { ready: false })];
    expect(whyOf({ nodes: lost, running: [runs("a1", "a", "n1")], waiting: bWaits }, "b")).toEqual([
      "b misses 8.0 GPUs.",
      "8.0 are guaranteed to it on nodes that are out of service.",
      "The nodes that are out of service would have to come back, or be replaced.",
    ]);
    const outside = [gpuPod("notebook", "n2", 8, { namespace: "elsewhere" })];
    expect(whyOf({ outside, running: [runs("a1", "a", "n1")], waiting: bWaits }, "b").at(-1)).toBe(
      "The pods past the queues would have to go through a queue, or leave.",
    );
    expect(
      whyOf({ nodes: [modelNode("n1", 8, "H100")], running: [runs("a1", "a", "n1")], waiting: bWaits }, "b").at(-1),
    ).toBe("The guarantees would have to be lowered to what is there, or nodes added.");
  });

  it("says that GPUs are free, and that nobody has to give any back", () => {
    expect(whyOf({ running: [runs("a1", "a", "n1")], waiting: bWaits }, "b")).toEqual([
      "b misses 8.0 GPUs.",
      "8.0 of them are free in nodes that it may use.",
      "What is free has to reach it: look at why its work waits, below.",
    ]);
  });

  it("says that a gang that is larger than the share starts nothing", () => {
    const waiting = [{ name: "waits", queue: "b", gpus: 1, pods: 12 }];
    expect(whyOf({ running: aHoldsAll, waiting }, "b")).toEqual([
      "b misses 8.0 GPUs.",
      "8.0 are allocated to others above their share, but no whole gang of it would start with them.",
      "Its gangs would have to be smaller, or its share large enough for the next whole one.",
    ]);
  });

  it("says that nothing has to change", () => {
    expect(whyOf({ running: [runs("a1", "a", "n1")] }, "a")).toEqual([
      "a holds all that it asks for, 8.0 GPUs, and nobody is short because of it: nothing has to change.",
    ]);
    const waiting = [...bWaits, { name: "more", queue: "a", gpus: 8 }];
    expect(whyOf({ running: [runs("a1", "a", "n1"), runs("b1", "b", "n2")], waiting }, "a")[0]).toContain(
      "a holds what it is entitled to, 8.0 GPUs. For the 8.0 that it waits for beyond that",
    );
  });
});
