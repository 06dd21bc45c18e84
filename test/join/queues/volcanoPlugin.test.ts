import { describe, expect, it } from "vitest";
import { findings } from "../../../exporter/analysis/lint/findings.ts";
import { volcanoPlugin } from "../../../exporter/join/queues/volcanoPlugin.ts";
import type { Snapshot } from "../../../exporter/join/snapshot.ts";
import { noQueueObjects, type SchedulerSettings } from "../../../exporter/model/queues/queueObjects.ts";
import type { VolcanoQueue } from "../../../exporter/model/queues/volcano.ts";
import { volcanoGroup, volcanoQueue } from "../../queues/groupRows.ts";
import { gpuNode, gpuPod } from "../clusterBuilder.ts";
import { analysed, defaultSettings, snapshotOf } from "../outcomes.ts";
import { gpus } from "./queueRows.ts";

const guess = (...queues: readonly VolcanoQueue[]) => volcanoPlugin(queues, "auto", null);

describe("the plugin of Volcano whose settings were not read", () => {
  it("is capacity where a queue deserves GPUs beyond its guarantee", () => {
    const plain = volcanoQueue("a", { parent: "root" });
    const vision = volcanoQueue("vision", { guarantee: gpus(4), deserved: gpus(10) });
    expect(guess(plain, vision)).toEqual({
      plugin: "capacity",
      guessedFrom: { queue: "vision", field: "spec.deserved", value: "10 nvidia.com/gpu", queues: 1 },
    });
  });

  it("is capacity where a queue is below another", () => {
    const tree = [volcanoQueue("research", { parent: "root" }), volcanoQueue("vision", { parent: "research" })];
    expect(guess(...tree)).toEqual({
      plugin: "capacity",
      guessedFrom: { queue: "vision", field: "spec.parent", value: "research", queues: 1 },
    });
  });

  it("names the first by name of all that say so, whatever their order", () => {
    const b = volcanoQueue("b", { deserved: gpus(2) });
    const a = volcanoQueue("a", { parent: "b" });
    expect(guess(b, a)?.guessedFrom).toMatchObject({ queue: "a", queues: 2 });
    expect(guess(a, b)).toEqual(guess(b, a));
  });

  it.each<[string, readonly VolcanoQueue[]]>([
    [
      "queues have weights and the parent that the controller writes",
      [volcanoQueue("a", { parent: "root", weight: 3 })],
    ],
    ["they deserve CPUs alone", [volcanoQueue("a", { deserved: { cpu: 64 } })]],
    // The webhook demands it of every guarantee.
    ["they deserve just their guarantee", [volcanoQueue("a", { guarantee: gpus(4), deserved: gpus(4) })]],
    ["they deserve no GPU", [volcanoQueue("a", { deserved: gpus(0) })]],
    ["root alone says so", [volcanoQueue("root", { deserved: gpus(24) })]],
    ["there are none", []],
  ])("is not guessed where %s", (_, queues) => {
    expect(guess(...queues)).toBeNull();
  });

  it("is never guessed against the configuration or what was read", () => {
    const queues = [volcanoQueue("a", { deserved: gpus(8) })];
    expect(volcanoPlugin(queues, "proportion", { plugin: "capacity" })).toEqual({ plugin: "proportion" });
    expect(volcanoPlugin(queues, "auto", { plugin: "proportion" })).toEqual({ plugin: "proportion" });
  });
});

describe("a cluster with Volcano's queues in a hierarchy, of whose scheduler nothing was read", () => {
  // 16 GPUs: research has 12 for vision (8) and language (4), product has 4.
  const volcanoQueues = [
    volcanoQueue("root"),
    volcanoQueue("research", { parent: "root" }),
    volcanoQueue("vision", { parent: "research", deserved: gpus(8) }),
    volcanoQueue("language", { parent: "research", deserved: gpus(4) }),
    volcanoQueue("product", { parent: "root", deserved: gpus(4) }),
  ];
  const inQueue = (queue: string) => ({
    schedulerName: "volcano",
    annotations: { "scheduling.k8s.io/group-name": `of-${queue}` },
  });
  const groups = ["research", "vision", "product"].map((queue) =>
    volcanoGroup(`of-${queue}`, queue, { minMember: 1, owner: null }),
  );
  const moment = (volcano: SchedulerSettings["volcano"], plugin: "auto" | "proportion" = "auto"): Snapshot => {
    const { queues } = defaultSettings;
    const settings = { ...defaultSettings, queues: { ...queues, volcano: { ...queues.volcano, plugin } } };
    return snapshotOf(
      {
        nodes: [gpuNode("one", 8), gpuNode("two", 8)],
        pods: [
          gpuPod("borrows", "one", 8, inQueue("product")),
          gpuPod("lends", "two", 8, inQueue("product")),
          gpuPod("waits", null, 8, inQueue("vision")),
          gpuPod("in-parent", null, 1, inQueue("research")),
        ],
        queues: { ...noQueueObjects, volcanoQueues, volcanoPodGroups: groups },
        schedulerSettings: { kueue: null, volcano },
      },
      settings,
    );
  };
  const queueOf = ({ queueing }: Snapshot, name: string) => queueing.queues.find((queue) => queue.name === name);

  it("reads the parent as a parent, sure of what its children are sure of, which takes no work itself", () => {
    const snapshot = moment(null);
    const research = queueOf(snapshot, "research");
    expect(research).toMatchObject({ isLeaf: false, guaranteed: 12 });
    const named = research?.children.map((child) => snapshot.queueing.queues[child]?.name);
    expect(named?.toSorted()).toEqual(["language", "vision"]);
    expect(queueOf(snapshot, "vision")).toMatchObject({ isLeaf: true, guaranteed: 8, pending: 8 });
    expect(snapshot.queueing.gangs.map(({ name, never }) => [name, never]).toSorted()).toEqual([
      ["in-parent", "no-queue"],
      ["waits", null],
    ]);
  });

  it("owes vision the 8 GPUs that it deserves", () => {
    const { snapshot, fairness } = analysed(moment(null));
    const shortfall = (name: string) =>
      snapshot.queueing.queues.flatMap((queue, i) => (queue.name === name ? [fairness.queues[i]?.shortfall] : []));
    expect([shortfall("vision"), shortfall("product"), shortfall("language")]).toEqual([[8], [0], [0]]);
  });

  it("says that the plugin was guessed, and nothing where it is set", () => {
    const codesOf = (snapshot: Snapshot) => findings(snapshot).map(({ code }) => code);
    expect(codesOf(moment(null))).toContain("volcano-plugin-guessed");
    expect(codesOf(moment({ plugin: "capacity" }))).not.toContain("volcano-plugin-guessed");
    const reported = moment(null, "proportion");
    expect(codesOf(reported)).not.toContain("volcano-plugin-guessed");
    // Then parents are none.
    expect(queueOf(reported, "research")).toMatchObject({ isLeaf: true, guaranteed: 0 });
  });
});
