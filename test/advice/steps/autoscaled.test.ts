import { describe, expect, it } from "vitest";
import { findRightSize } from "../../../exporter/advice/kinds/rightSize.ts";
import { createTrial } from "../../../exporter/advice/whatIf/trial.ts";
import type { ClusterState } from "../../../exporter/model/cluster.ts";
import type { ServingPage } from "../../../exporter/model/serving.ts";
import {
  decodeHorizontalPodAutoscaler,
  decodeScaledObject,
  decodeVerticalPodAutoscaler,
} from "../../../exporter/sources/kubernetes/decodeAutoscalers.ts";
import type { Decoded } from "../../../exporter/sources/kubernetes/decoded.ts";
import { everyKind, gpuNode, now, owner } from "../../join/clusterBuilder.ts";
import {
  analysisAt,
  deployment,
  everyHalfHour,
  hour,
  momentOf,
  pageAt,
  physicalGpu,
  podOf,
  replicaSet,
  watchedAt,
} from "../usage/watchedCluster.ts";
import { adviceOf, nothing, only } from "../wholeAdvice.ts";

const server = owner("Deployment", "llm", null, { apiVersion: "apps/v1" });
const longAgo = { createdAt: now - 30 * hour, scheduledAt: now - 30 * hour };

/** Two replicas of a server with eight GPUs, on which nothing has run since they began 30 hours ago. */
const idleServer = (more: Partial<ClusterState>): Partial<ClusterState> => ({
  nodes: [gpuNode("n1", 8)],
  owners: [server, replicaSet(server)],
  pods: ["llm-0", "llm-1"].map((name) => podOf(server, name, "n1", 4, longAgo)),
  telemetry: [
    pageAt(
      "n1",
      Array.from({ length: 8 }, (_, i) => physicalGpu(`GPU-${i}`, 0, `llm-${Math.floor(i / 4)}`)),
    ),
  ],
  ...more,
});

const idleSince = new Map(Array.from({ length: 8 }, (_, i) => [`n1/GPU-${i}`, now - 30 * hour] as const));
const adviceFor = (more: Partial<ClusterState>) => adviceOf(momentOf(analysisAt(idleServer(more), now, { idleSince })));

function read<T>(decode: (value: unknown) => Decoded<T>, apiVersion: string, kind: string, parts: object): T {
  const metadata = { name: "llm", namespace: "research", uid: "uid-llm-scaler" };
  const decoded = decode({ apiVersion, kind, metadata, ...parts });
  if (!decoded.ok) throw new Error(decoded.problem.message);
  return decoded.value;
}

const scaleTargetRef = { apiVersion: "apps/v1", kind: "Deployment", name: "llm" };
const horizontal = (spec: object = {}, metadata: object = {}) => {
  const found = read(decodeHorizontalPodAutoscaler, "autoscaling/v2", "HorizontalPodAutoscaler", {
    spec: {
      scaleTargetRef,
      minReplicas: 2,
      maxReplicas: 6,
      metrics: [
        { type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 70 } } },
      ],
      ...spec,
    },
  });
  return { ...found, ...metadata };
};
const prometheus = { type: "prometheus", metadata: { serverAddress: "http://prometheus:9090", threshold: "1" } };
const keda = (spec: object) =>
  read(decodeScaledObject, "keda.sh/v1alpha1", "ScaledObject", {
    spec: { scaleTargetRef: { name: "llm" }, maxReplicaCount: 4, triggers: [prometheus], ...spec },
  });
/** The one that KEDA makes for it. */
const ofKeda = horizontal(
  { minReplicas: 1 },
  { owner: { apiVersion: "keda.sh/v1alpha1", kind: "ScaledObject", name: "llm", uid: "uid-so" } },
);

const isGiven = (more: Partial<ClusterState>): void => {
  const { kind, steps } = only(adviceFor(more));
  expect(kind).toBe("release_idle");
  expect(steps[0]?.request).toMatchObject({ body: { spec: { replicas: 0 } } });
};

describe("a server on which nothing has run for 30 hours", () => {
  it("is scaled to none where nothing scales it", () => isGiven({}));

  it("is left to its HorizontalPodAutoscaler, which keeps two replicas and would wake none", () => {
    expect(nothing(adviceFor({ horizontalPodAutoscalers: [horizontal()] }))).toContain(
      "HorizontalPodAutoscaler research/llm keeps at least 2 replicas and would not wake it at none: lower its spec.minReplicas from 2, or let KEDA scale it",
    );
  });

  it("is not kept by an autoscaler of something else", () => {
    const other = (parts: object) => horizontal({ scaleTargetRef: { ...scaleTargetRef, ...parts } });
    isGiven({
      horizontalPodAutoscalers: [
        other({ name: "web" }),
        other({ kind: "StatefulSet" }),
        other({ apiVersion: "argoproj.io/v1alpha1" }),
        horizontal({}, { namespace: "prod" }),
      ],
    });
  });

  it("is left to KEDA, with the setting that lets it sleep", () => {
    const reason = (spec: object) =>
      nothing(adviceFor({ horizontalPodAutoscalers: [ofKeda], scaledObjects: [keda(spec)] }));
    expect(reason({ minReplicaCount: 1 })).toContain(
      "ScaledObject research/llm keeps at least 1 replica: set its spec.minReplicaCount to 0, and its triggers wake it",
    );
    expect(reason({ minReplicaCount: 2, idleReplicaCount: 0 })).toContain("takes it to no replicas by itself");
    expect(reason({})).toContain("takes it to no replicas by itself when its triggers are idle");
    const cpu = { type: "cpu", metricType: "Utilization", metadata: { value: "50" } };
    expect(reason({ minReplicaCount: 1, triggers: [cpu] })).toContain("has no trigger that would wake it");
  });

  it("is left to KEDA where only the HorizontalPodAutoscaler that it made can be read", () => {
    const known = new Set([...everyKind].filter((kind) => kind !== "scaledObjects"));
    expect(nothing(adviceFor({ horizontalPodAutoscalers: [ofKeda], known }))).toContain("of ScaledObject llm keeps");
  });

  it("is never stopped where autoscalers cannot be read; a batch of the same shape is", () => {
    const known = new Set([...everyKind].filter((kind) => kind !== "horizontalPodAutoscalers"));
    expect(nothing(adviceFor({ known }))).toContain("nothing is known that would wake it");
    const labels = { "fairlead.dev/workload-class": "batch" };
    const batch = { ...server, labels };
    isGiven({ known, owners: [batch, replicaSet(batch)] });
  });
});

describe("a server that polls busily and has had no request for 30 hours", () => {
  const counted = { finished: 7, promptTokens: 70, generatedTokens: 700 };
  const servers = new Map(
    ["llm-0", "llm-1"].map((name) => [`uid-research-${name}`, { ...counted, since: now - 30 * hour }] as const),
  );
  const pageOf = (name: string): ServingPage => ({
    pod: `uid-research-${name}`,
    receivedAt: now,
    servers: ["vllm"],
    running: 0,
    waiting: 0,
    isEmpty: true,
    isAsleep: false,
    ...counted,
  });
  const busy = Array.from({ length: 8 }, (_, i) => physicalGpu(`GPU-${i}`, 1, `llm-${Math.floor(i / 4)}`));
  const askedFor = (more: Partial<ClusterState>) => {
    const state = idleServer({ telemetry: [pageAt("n1", busy)], serving: [pageOf("llm-0"), pageOf("llm-1")], ...more });
    return adviceOf(momentOf(analysisAt(state, now, { servers }), undefined, { askReturnProbability: 1 }));
  };

  it("is not stopped: its owner is asked, and learns what keeps two replicas", () => {
    const { act, steps, questions, title, reason } = only(askedFor({ horizontalPodAutoscalers: [horizontal()] }));
    expect({ act, steps }).toEqual({ act: "ask", steps: [] });
    expect(title).toContain("no request came since");
    expect(reason).toContain("Whatever runs on them, the counters of requests of its server have stood still");
    expect(questions[0]?.facts.join("\n")).toContain("lower its spec.minReplicas from 2, or let KEDA scale it");
  });

  it("that nothing scales is asked about in the same way, without a setting to lower", () => {
    const { act, questions } = only(askedFor({}));
    expect(act).toBe("ask");
    expect(questions[0]?.facts.join("\n")).toContain("their server has had no request since");
    expect(questions[0]?.facts.join("\n")).not.toContain("minReplicas");
  });

  it("is nobody's business while one of its replicas has requests, or has no page", () => {
    const inside = { ...pageOf("llm-1"), running: 1, isEmpty: false };
    expect(nothing(askedFor({ serving: [pageOf("llm-0"), inside] }))).not.toContain("llm");
    expect(nothing(askedFor({ serving: [pageOf("llm-0")] }))).not.toContain("llm");
  });
});

describe("a server that asks for more GPUs than it uses", () => {
  const large = deployment("large");
  const stateAt = (at: number): Partial<ClusterState> => ({
    nodes: [gpuNode("n1", 4)],
    owners: [large, replicaSet(large)],
    pods: [podOf(large, "large-0", "n1", 4, { createdAt: now - 90 * hour, scheduledAt: now - 90 * hour })],
    telemetry: [
      pageAt(
        "n1",
        [0.9, 0.2, 0, 0].map((busy, i) => physicalGpu(`GPU-${i}`, busy, "large-0")),
        at,
      ),
    ],
  });
  const waitFor = (updateMode: string): string => {
    const vertical = read(decodeVerticalPodAutoscaler, "autoscaling.k8s.io/v1", "VerticalPodAutoscaler", {
      spec: { targetRef: { ...scaleTargetRef, name: "large" }, updatePolicy: { updateMode } },
    });
    const analysis = analysisAt({ ...stateAt(now), verticalPodAutoscalers: [vertical] });
    const moment = momentOf(analysis, watchedAt(everyHalfHour(12), stateAt));
    const [found] = findRightSize(moment, createTrial(moment)).candidates;
    return found?.steps.map(({ waitFor: words }) => words).join() ?? "none";
  };

  it("names the VerticalPodAutoscaler that restarts its pods, too", () => {
    const words = "VerticalPodAutoscaler research/llm (Recreate) may restart them once more";
    expect(waitFor("Recreate")).toContain(words);
    expect(waitFor("Off")).toContain("Its pods have been made anew");
    expect(waitFor("Off")).not.toContain("VerticalPodAutoscaler");
  });
});
