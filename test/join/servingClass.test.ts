import { describe, expect, it } from "vitest";
import type { OwnerObject } from "../../exporter/model/cluster.ts";
import type { TextMap } from "../../exporter/model/node.ts";
import type { Pod } from "../../exporter/model/pod.ts";
import { analysisAt, hour, momentOf, pageAt, physicalGpu } from "../advice/usage/watchedCluster.ts";
import { adviceOf, only, titlesOf } from "../advice/wholeAdvice.ts";
import { gpuNode, gpuPod, now, owner, ownerRef } from "./clusterBuilder.ts";

/** A chain of owners from the top, `[kind, apiVersion, name]`; those that cannot be read are only named. */
type Link = readonly [kind: string, apiVersion: string, name: string];

function chainOf(links: readonly Link[]): readonly OwnerObject[] {
  const chain: OwnerObject[] = [];
  for (const [kind, apiVersion, name] of links)
    chain.push(owner(kind, name, chain.at(-1) ?? null, { apiVersion, uid: `uid-${kind}-${name}` }));
  return chain;
}

/** A pod of the last of the owners with a GPU on which nothing has run for so many hours; the first `unread` cannot be read. */
function idleOf(links: readonly Link[], hours: number, unread = 0, labels: TextMap = {}) {
  const chain = chainOf(links);
  const controller = chain.at(-1);
  const times = { createdAt: now - 40 * hour, scheduledAt: now - 40 * hour };
  const pod = gpuPod("p", "n1", 1, {
    ...times,
    labels,
    owner: controller === undefined ? null : ownerRef(controller),
  });
  return analysisAt(
    {
      nodes: [gpuNode("n1", 1)],
      owners: chain.slice(unread),
      pods: [pod],
      telemetry: [pageAt("n1", [physicalGpu("G", 0, "p")])],
    },
    now,
    { idleSince: new Map([["n1/G", now - hours * hour]]) },
  );
}

type Analysis = ReturnType<typeof idleOf>;
const isIdle = ({ pools }: Analysis): boolean => (pools[0]?.states.idle ?? 0) > 0;
const shown = ({ snapshot: { workloads } }: Analysis) =>
  workloads.map(({ kind, name, workloadClass, classGuess }) => [kind, name, workloadClass, classGuess ?? null]);

const deployment: Link = ["Deployment", "apps/v1", "llm"];
const replicaSet: Link = ["ReplicaSet", "apps/v1", "llm-5d9"];
const revision: Link = ["Revision", "serving.knative.dev/v1", "llm-00001"];
const knative: readonly Link[] = [
  ["Service", "serving.knative.dev/v1", "llm"],
  ["Configuration", "serving.knative.dev/v1", "llm"],
  revision,
];

const servers: readonly (readonly [string, readonly Link[]])[] = [
  ["Knative", [...knative, ["Deployment", "apps/v1", "llm-00001-deployment"], replicaSet]],
  ["Argo Rollouts", [["Rollout", "argoproj.io/v1alpha1", "llm"], replicaSet]],
  ["the NIM operator", [["NIMService", "apps.nvidia.com/v1alpha1", "llm"], deployment, replicaSet]],
  ["Seldon", [["SeldonDeployment", "machinelearning.seldon.io/v1", "llm"], deployment, replicaSet]],
  ["KServe", [["LLMInferenceService", "serving.kserve.io/v1alpha1", "llm"], deployment, replicaSet]],
  [
    "Dynamo",
    [
      ["DynamoGraphDeployment", "nvidia.com/v1alpha1", "llm"],
      ["DynamoComponentDeployment", "nvidia.com/v1alpha1", "llm-decode"],
      deployment,
      replicaSet,
    ],
  ],
];

describe("a server that has been quiet for two hours", () => {
  it.each(servers)("of %s is no idle batch, and nobody advises to stop it", (_name, links) => {
    const [top] = links;
    const analysis = idleOf(links, 2);
    expect(shown(analysis)).toEqual([[top?.[0], top?.[2], "serving", null]]);
    expect(isIdle(analysis)).toBe(false);
    expect(titlesOf(adviceOf(momentOf(analysis)))).toEqual([]);
  });

  it.each(servers)(
    "of %s is none where only the controller of its pod, or that and its owner, can be read",
    (_name, links) => {
      for (const unread of [links.length - 1, links.length - 2]) {
        const analysis = idleOf(links, 2, unread);
        expect(shown(analysis)[0]?.[2]).toBe("serving");
        expect(isIdle(analysis)).toBe(false);
      }
    },
  );

  it.each(servers)("of %s is idle after a day of it", (_name, links) => {
    expect(isIdle(idleOf(links, 30))).toBe(true);
  });

  it("of a kind that nobody knows with a Deployment is a guess, and says so", () => {
    const analysis = idleOf([["ModelServer", "example.com/v1", "llm"], deployment, replicaSet], 2);
    expect(shown(analysis)).toEqual([["ModelServer", "llm", "serving", "a Deployment of a ModelServer runs it"]]);
    expect(isIdle(analysis)).toBe(false);
  });

  it("whose chain nobody can read goes by the labels of its operator", () => {
    const clique: readonly Link[] = [["PodClique", "grove.io/v1alpha1", "llm-0-decode"]];
    const labels = { "nvidia.com/dynamo-graph-deployment-name": "llm", "leaderworkerset.sigs.k8s.io/name": "llm-0" };
    expect(shown(idleOf(clique, 2, 1, labels))).toEqual([["DynamoGraphDeployment", "llm", "serving", null]]);
    const llm = { "app.kubernetes.io/part-of": "llminferenceservice", "app.kubernetes.io/name": "llm" };
    expect(shown(idleOf(clique, 2, 1, llm))).toEqual([["LLMInferenceService", "llm", "serving", null]]);
    const revised = { "serving.knative.dev/service": "llm" };
    expect(shown(idleOf([revision, deployment], 2, 1, revised))).toEqual([["Service", "llm", "serving", null]]);
  });
});

describe("work of a kind that nobody knows", () => {
  it("may be quiet for a day: whether it serves is not known", () => {
    const unknown: readonly Link[] = [["Sorcery", "example.com/v1", "spell"]];
    expect(shown(idleOf(unknown, 2))).toEqual([["Sorcery", "spell", "batch", "nothing is known of the kind Sorcery"]]);
    expect([2, 30].map((hours) => isIdle(idleOf(unknown, hours)))).toEqual([false, true]);
  });

  it("that runs Jobs is batch", () => {
    const links: readonly Link[] = [
      ["Pipeline", "example.com/v1", "nightly"],
      ["Job", "batch/v1", "nightly-1"],
    ];
    expect(shown(idleOf(links, 2))).toEqual([["Pipeline", "nightly", "batch", null]]);
    expect(isIdle(idleOf(links, 2))).toBe(true);
  });
});

describe("a batch that has been quiet for two hours", () => {
  it("is idle, and its team is asked to let it go", () => {
    const analysis = idleOf([["PyTorchJob", "kubeflow.org/v1", "train"]], 2);
    expect(shown(analysis)).toEqual([["PyTorchJob", "train", "batch", null]]);
    expect(isIdle(analysis)).toBe(true);
    expect(only(adviceOf(momentOf(analysis))).kind).toBe("release_idle");
  });

  it("of a notebook is one, although a StatefulSet runs it", () => {
    const links: readonly Link[] = [
      ["Notebook", "kubeflow.org/v1", "nb"],
      ["StatefulSet", "apps/v1", "nb"],
    ];
    expect(shown(idleOf(links, 2))).toEqual([["Notebook", "nb", "batch", null]]);
  });
});

describe("a bare pod", () => {
  const bare = (parts: Partial<Pod>) =>
    analysisAt(
      {
        nodes: [gpuNode("n1", 1)],
        pods: [gpuPod("p", "n1", 1, { createdAt: now - 40 * hour, scheduledAt: now - 40 * hour, ...parts })],
        telemetry: [pageAt("n1", [physicalGpu("G", 0, "p")])],
      },
      now,
      { idleSince: new Map([["n1/G", now - 2 * hour]]) },
    );

  it("with a port and a readiness probe waits to be asked: it is taken for a server", () => {
    expect(shown(bare({ isProbedServer: true }))).toEqual([
      ["Pod", "p", "serving", "it has a port and a readiness probe"],
    ]);
    expect([bare({ isProbedServer: true }), bare({})].map(isIdle)).toEqual([false, true]);
  });
});
