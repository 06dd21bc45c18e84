import { describe, expect, it } from "vitest";
import { adviseOnce } from "../../../exporter/advice/adviser.ts";
import type { ClusterState, OwnerObject } from "../../../exporter/model/cluster.ts";
import type { Advice } from "../../../exporter/model/recommendation.ts";
import type { DeviceReading } from "../../../exporter/model/telemetry.ts";
import { gpuNode, gpuPod, now, owner, ownerRef } from "../../join/clusterBuilder.ts";
import {
  adviceSettings,
  analysisAt,
  deployment,
  hour,
  pageAt,
  physicalGpu,
  replicaSet,
} from "../usage/watchedCluster.ts";
import { nothing, only } from "../wholeAdvice.ts";

const limits = { backoffLimit: 6, failed: 0, onDisruption: "Count", isSuspended: false } as const;

type Shows = "hung" | "quiet" | "works" | "unseen";

function reading(uuid: string, pod: string, shows: Exclude<Shows, "unseen">): DeviceReading {
  const one = physicalGpu(uuid, shows === "quiet" ? 0 : 1, pod);
  if (shows === "works") return { ...one, tensorActive: 0.4, dramActive: 0.3, powerWatts: 600 };
  if (shows === "quiet") return { ...one, tensorActive: 0, dramActive: 0, powerWatts: 130 };
  return { ...one, tensorActive: 0, dramActive: 0.001, powerWatts: 121 };
}

interface Case {
  /** Of each GPU of the two nodes of eight. */
  readonly shows?: (node: number, physicalGpu: number) => Shows;
  readonly stalledMinutes?: number;
  readonly boundHours?: number;
  readonly checkpointHours?: number;
  readonly isServing?: boolean;
  readonly more?: Partial<ClusterState>;
}

/** A PyTorchJob of two pods with a node of eight H100 each. */
function adviceOn({ shows = () => "hung", stalledMinutes = 33, boundHours = 20, ...given }: Case): Advice {
  const bound = now - boundHours * hour;
  const job = owner("PyTorchJob", "llm", null, { apiVersion: "kubeflow.org/v1", job: limits, createdAt: bound });
  const server = deployment("chat", { labels: {}, createdAt: bound });
  const owners: readonly OwnerObject[] = given.isServing === true ? [server, replicaSet(server)] : [job];
  const at = new Date((now - (given.checkpointHours ?? 0) * hour) * 1000).toISOString();
  const checkpoint = given.checkpointHours === undefined ? {} : { annotations: { "fairlead.dev/checkpointed-at": at } };
  const parts = { owner: ownerRef(owners.at(-1) ?? job), createdAt: bound, scheduledAt: bound, ...checkpoint };
  const physicalGpus = [0, 1].flatMap((node) =>
    Array.from({ length: 8 }, (_, i) => ({ node, i, shows: shows(node, i) })),
  );
  const uuid = (node: number, i: number): string => `GPU-${node}-${i}`;
  const hung = physicalGpus.filter((one) => one.shows === "hung");
  const analysis = analysisAt(
    {
      nodes: [gpuNode("n0", 8), gpuNode("n1", 8)],
      owners,
      pods: [0, 1].map((node) => gpuPod(`llm-${node}`, `n${node}`, 8, parts)),
      telemetry: [0, 1].map((node) =>
        pageAt(
          `n${node}`,
          physicalGpus.flatMap((one) =>
            one.node === node && one.shows !== "unseen" ? [reading(uuid(node, one.i), `llm-${node}`, one.shows)] : [],
          ),
        ),
      ),
      ...given.more,
    },
    now,
    { stalledSince: new Map(hung.map(({ node, i }) => [`n${node}/${uuid(node, i)}`, now - stalledMinutes * 60])) },
  );
  return adviseOnce(analysis, adviceSettings, 30);
}

const restart = (16 * 10) / 60;

describe("a gang of 16 GPUs that looks busy and computes nothing for 33 minutes", () => {
  it("is one question to its owner, with what a restart would undo at most", () => {
    const one = only(adviceOn({}));
    expect(one).toMatchObject({
      kind: "release_idle",
      act: "ask",
      steps: [],
      habit: null,
      stalledSince: now - 33 * 60,
    });
    expect(one.title).toMatch(/to restart research\/llm if it hangs: 16 H100\S* look busy and compute nothing since 2/);
    expect(one.actReasons).toEqual(["whether it hangs or waits for something, only its owner can see"]);
    expect(one.questions).toHaveLength(1);
    expect(one.questions[0]?.facts.join("\n")).toMatch(/for 33 min: GPU_UTIL 100 %, .*DRAM 0\.1 %, power 121 W/);
    expect(one.questions[0]?.facts.join("\n")).toMatch(/no checkpoint is known/);
    expect(one.cost).toMatchObject({ pods: 2, isUpperBound: true });
    expect(one.cost.lostGpuHours).toBeCloseTo(16 * 20 + restart, 6);
    expect(one.effect.gainedGpus).toEqual({ worst: 16, best: 16 });
    expect(one.effect.gainedGpuHours.worst).toBeCloseTo((16 * 33) / 60, 6);
    expect(one.effect.savingPerWeek).toEqual([]);
    expect(JSON.stringify(one)).not.toMatch(/kubectl|"verb"|suspend|"replicas"/);
  });

  it("loses what was done since its last checkpoint", () => {
    const { cost } = only(adviceOn({ checkpointHours: 1 }));
    expect(cost.isUpperBound).toBe(false);
    expect(cost.lostGpuHours).toBeCloseTo(16 + restart, 6);
  });

  it("names the rank that differs: silent, while the others spin", () => {
    const one = only(adviceOn({ shows: (node, i) => (node === 1 && i === 3 ? "quiet" : "hung") }));
    expect(one.reason).toMatch(/15 of them looked busy/);
    expect(one.reason).toMatch(/Nothing runs on 1 of its GPUs \(llm-1 on n1\): look there first/);
  });
});

describe("its twins are left alone", () => {
  it.each<readonly [why: string, given: Case, reason: RegExp]>([
    [
      "one rank computes",
      { shows: (n, i) => (n + i === 0 ? "works" : "hung") },
      /1 more of its GPUs compute \(llm-0 on n0\): the others/,
    ],
    ["one GPU is not seen", { shows: (n, i) => (n + i === 0 ? "unseen" : "hung") }, /nobody knows what 1 more/],
    ["it has just started", { boundHours: 0.7 }, /a start may wait for 45 min/],
    ["it serves", { isServing: true }, /a server that waits for requests looks the same/],
    ["too little is lost by it", { shows: (n, i) => (n + i === 0 ? "hung" : "quiet"), stalledMinutes: 3 }, /^$/],
    ["not for a quarter of an hour yet", { stalledMinutes: 14 }, /^$/],
    ["it works", { shows: () => "works" }, /^$/],
  ])("%s", (_why, given, reason) => {
    const why = nothing(adviceOn(given));
    if (reason.source === "^$") expect(why).not.toMatch(/look busy/);
    else expect(why).toMatch(reason);
  });
});
