import { describe, expect, it } from "vitest";
import type { Found } from "../../../exporter/advice/candidate.ts";
import { findDrainNode } from "../../../exporter/advice/kinds/drainNode.ts";
import { createTrial } from "../../../exporter/advice/whatIf/trial.ts";
import type { ClusterState } from "../../../exporter/model/cluster.ts";
import type { DeviceReading } from "../../../exporter/model/telemetry.ts";
import { gpuNode, gpuPod, now, owner, ownerRef } from "../../join/clusterBuilder.ts";
import { analysisAt, hour, momentOf, pageAt, physicalGpu, podOf, replicaSet } from "../usage/watchedCluster.ts";
import { adviceOf } from "../wholeAdvice.ts";

const jobOf = (name: string) =>
  owner("PyTorchJob", name, null, {
    apiVersion: "kubeflow.org/v1",
    createdAt: now - 5 * hour,
    job: { backoffLimit: 6, failed: 0, onDisruption: "Count", isSuspended: false },
  });
const [job, other] = [jobOf("llm"), jobOf("other")];
const server = owner("Deployment", "chat", null, { apiVersion: "apps/v1", createdAt: now - 5 * hour });
const bound = { createdAt: now - 5 * hour, scheduledAt: now - 5 * hour };

interface Case {
  /** What the page says of GPU-0; the API has taken it out unless `isOffered`. */
  readonly shows?: Partial<DeviceReading>;
  readonly isOffered?: boolean;
  /** Who holds it; another job holds GPU-1. */
  readonly holder?: "job" | "server" | "nobody";
  readonly checkpointHours?: number;
  readonly more?: Partial<ClusterState>;
}

function momentWith({ shows = { lastXid: 48 }, isOffered = false, holder = "job", ...given }: Case) {
  const at = new Date((now - (given.checkpointHours ?? 0) * hour) * 1000).toISOString();
  const checkpoint = given.checkpointHours === undefined ? {} : { annotations: { "fairlead.dev/checkpointed-at": at } };
  const gpu = isOffered ? {} : { unhealthy: ["GPU-0"] };
  const held = {
    job: [{ ...gpuPod("llm-0", "n1", 1, { ...bound, ...checkpoint, owner: ownerRef(job), gpu }) }],
    server: [{ ...podOf(server, "chat-0", "n1", 1, bound), gpu: gpuPod("chat-0", "n1", 1, { gpu }).gpu }],
    nobody: [],
  }[holder];
  const named = { job: "llm-0", server: "chat-0", nobody: undefined }[holder];
  return momentOf(
    analysisAt({
      nodes: [gpuNode("n1", 2), gpuNode("n2", 2)],
      owners: [job, other, server, replicaSet(server)],
      pods: [...held, gpuPod("other-0", "n1", 1, { ...bound, owner: ownerRef(other) })],
      telemetry: [
        pageAt("n1", [{ ...physicalGpu("GPU-0", 0, named), ...shows }, physicalGpu("GPU-1", 0.9, "other-0")]),
        pageAt("n2", [physicalGpu("GPU-2", 0), physicalGpu("GPU-3", 0)]),
      ],
      ...given.more,
    }),
  );
}

function found(given: Case): Found {
  const moment = momentWith(given);
  return findDrainNode(moment, createTrial(moment));
}

const titles = ({ candidates }: Found): readonly string[] => candidates.map(({ title }) => title);

describe("a node with a GPU whose fault ends the work on it", () => {
  it("is cordoned, by a request that names the node by its uid, and its work's owner is asked", () => {
    const { candidates, withheld } = found({});
    expect(withheld).toEqual([]);
    expect(titles({ candidates, withheld })).toEqual([
      "drain node n1: a memory error on 1 of its 2 H100-80GB-HBM3",
      "ask team research to restart research/llm elsewhere: a memory error on its GPU of node n1",
    ]);
    const [node, owners] = candidates;
    expect(node?.steps).toHaveLength(1);
    expect(node?.steps[0]?.request).toMatchObject({
      verb: "PATCH",
      path: "/api/v1/nodes/n1",
      body: { spec: { unschedulable: true } },
    });
    expect(node?.steps[0]?.precondition).toMatch(/^Node n1 is still/);
    expect(node?.disrupted).toEqual([]);
    expect(owners?.steps).toEqual([]);
    expect(owners?.decision?.act).toBe("ask");
    expect(owners?.questions?.[0]).toMatchObject({ to: "team research", about: "PyTorchJob research/llm" });
  });

  it("says which pods to move first, which may end by themselves, and what is lost", () => {
    const evidence = Object.fromEntries(
      (found({}).candidates[0]?.evidence ?? []).map(({ name, value }) => [name, value]),
    );
    expect(evidence).toMatchObject({
      GPU: "GPU-0: a memory error",
      "pods to move first": "research/llm-0",
      "other pods with GPUs of the node": "research/other-0",
    });
    expect(evidence["lost if these are stopped now instead"]).toMatch(/^at most 10\.3 GPU-hours$/);
    const facts = (given: Case) => found(given).candidates[1]?.questions?.[0]?.facts.join("\n");
    expect(facts({})).toMatch(/at most 5\.2 GPU-hours of work would be done again: no checkpoint is known/);
    expect(facts({ checkpointHours: 1 })).toMatch(/restarted now, 1\.2 GPU-hours of work would be done again$/m);
  });

  it("evicts what serves there, because that loses no more than a restart, and asks nobody", () => {
    const { candidates } = found({ holder: "server" });
    expect(candidates).toHaveLength(1);
    const [node] = candidates;
    expect(node?.steps.map(({ title }) => title)).toEqual([
      "Cordon node n1, so that it comes empty and its GPU can be reset or replaced",
      "Evict pod research/chat-0: nothing can run on its GPU",
    ]);
    expect(node?.steps[1]?.request.body).toMatchObject({ kind: "Eviction", metadata: { name: "chat-0" } });
    expect(node?.disrupted).toHaveLength(1);
  });

  it("is one whose GPU is still given out although its rows could not be remapped; its server is asked about", () => {
    const given = { shows: { rowRemapFailure: 1 }, isOffered: true } as const;
    expect(titles(found({ ...given, holder: "nobody" }))).toEqual([
      "drain node n1: a row of its memory could not be remapped on 1 of its 2 H100-80GB-HBM3",
    ]);
    const { candidates } = found({ ...given, holder: "server" });
    expect(candidates.map(({ steps }) => steps.length)).toEqual([1, 0]);
  });

  it("is offered whole: both pieces beside each other", () => {
    const { recommendations } = adviceOf(momentWith({}));
    const drains = recommendations.filter(({ kind }) => kind === "drain_node");
    expect(drains.map(({ act }) => act).sort()).toEqual(["ask", "do"]);
    expect(new Set(drains.map(({ id }) => id)).size).toBe(2);
    for (const { act, steps, questions } of drains)
      expect([steps.length, questions.length]).toEqual(act === "ask" ? [0, 1] : [1, 0]);
  });
});

describe("its twins are left alone", () => {
  it.each<readonly [why: string, given: Case]>([
    ["an error of the application", { shows: { lastXid: 31 }, isOffered: true }],
    ["a last error of a GPU that the API still offers", { shows: { lastXid: 48 }, isOffered: true }],
    ["rows that are remapped at the next reset", { shows: { lastXid: 63 } }],
    ["heat", { shows: { clockEventReasons: 0x40 }, isOffered: true }],
    ["a GPU that the API has taken out and nobody holds", { shows: { lastXid: 48 }, holder: "nobody" }],
    ["no telemetry", { more: { telemetry: [] }, isOffered: true }],
  ])("%s", (_why, given) => {
    expect(found(given)).toEqual({ candidates: [], withheld: [] });
  });

  it("a node that is cordoned already: only the owner is asked", () => {
    const nodes = [gpuNode("n1", 2, { unschedulable: true }), gpuNode("n2", 2)];
    const { candidates, withheld } = found({ more: { nodes } });
    expect(candidates.map(({ title }) => title.slice(0, 8))).toEqual(["ask team"]);
    expect(withheld[0]?.reason).toMatch(/it is cordoned/);
  });
});
