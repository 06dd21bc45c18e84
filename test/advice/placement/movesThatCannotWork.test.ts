import { describe, expect, it } from "vitest";
import type { ObjectKind } from "../../../exporter/model/cluster.ts";
import { allAdviceOf, readObjects } from "./adviseObjects.ts";
import {
  type DrawnCluster,
  nodeObject,
  type PodObject,
  podObject,
  required,
  type VolumeObjects,
} from "./drawnCluster.ts";

const host = "kubernetes.io/hostname";
const zone = "topology.kubernetes.io/zone";
const capacity = "karpenter.sh/capacity-type";

interface Case {
  /** What the pod asks that would move. */
  readonly small?: object;
  /** Labels and rules of the pods with three GPUs that stay on n2 and on n3. */
  readonly onN2?: { readonly app?: string; readonly spec?: object };
  readonly onN3?: { readonly app?: string; readonly spec?: object };
  readonly more?: readonly PodObject[];
  readonly labels?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly volumes?: readonly VolumeObjects[];
  readonly unknown?: readonly ObjectKind[];
}

const withSpec = (pod: PodObject, more: object = {}): PodObject => ({ ...pod, spec: { ...pod.spec, ...more } });

/** Only its own node takes it. */
const pinned = (pod: PodObject): PodObject =>
  withSpec(pod, { nodeSelector: { ...pod.spec.nodeSelector, [host]: pod.spec.nodeName } });

/** A pod with one GPU keeps work with four off n1; n2 and n3 have one GPU free each. */
function clusterOf({ small, onN2, onN3, more = [], labels = {}, volumes = [] }: Case): DrawnCluster {
  const nodes = ["n1", "n2", "n3"].map((name) =>
    nodeObject(name, "c", { [zone]: name === "n3" ? "b" : "a", [capacity]: "on-demand", ...labels[name] }, false),
  );
  const pods = [
    withSpec(podObject("c", "small", "web", 1, "n1"), small),
    pinned(withSpec(podObject("c", "big-2", onN2?.app ?? "other", 3, "n2"), onN2?.spec)),
    pinned(withSpec(podObject("c", "big-3", onN3?.app ?? "other", 3, "n3"), onN3?.spec)),
    podObject("c", "waiting", "train", 4),
    ...more,
  ];
  return { name: "c", nodes, pods, volumes };
}

const advised = (of: Case) => {
  const { recommendations, withheld } = allAdviceOf(readObjects(clusterOf(of)), undefined, of.unknown);
  return {
    targets: recommendations.flatMap(({ targets }) => targets),
    steps: recommendations.flatMap(({ steps }) => steps.map(({ title }) => title)),
    why: withheld.map(({ reason }) => reason).join("\n"),
  };
};

const term = (app: string, topologyKey = host) => ({ topologyKey, labelSelector: { matchLabels: { app } } });
const apartFrom = (app: string, key = host) => ({ affinity: { podAntiAffinity: { [required]: [term(app, key)] } } });
const besides = (app: string, key = host) => ({ affinity: { podAffinity: { [required]: [term(app, key)] } } });
const spread = (app: string, maxSkew: number) => ({
  topologySpreadConstraints: [{ ...term(app), maxSkew, whenUnsatisfiable: "DoNotSchedule" }],
});
const withPort = (gpus: number) => ({
  containers: [
    {
      name: "main",
      image: "none",
      ports: [{ containerPort: 80, hostPort: 80 }],
      resources: { limits: gpus === 0 ? {} : { "nvidia.com/gpu": String(gpus) }, requests: { cpu: "1" } },
    },
  ],
});
const volumeAt = (key: string, value: string): VolumeObjects => ({
  volume: { metadata: { name: "data" }, at: { key, value } },
  claim: { metadata: { name: "data", namespace: "c" } },
});
const mounted = { volumes: [{ name: "data", persistentVolumeClaim: { claimName: "data" } }] };
const spot = { [capacity]: "spot" };

describe("a pod that would have to move for work that waits", () => {
  it("is moved where nothing speaks against it", () => {
    expect(advised({}).targets).toEqual(["Pod c/small"]);
  });

  it.each<[what: string, wrong: Case, right: Case]>([
    [
      "its anti-affinity keeps it off the nodes that are free",
      { small: apartFrom("peer"), onN2: { app: "peer" }, onN3: { app: "peer" } },
      { small: apartFrom("peer"), onN2: { app: "peer" } },
    ],
    [
      "pods that stay keep it away",
      { onN2: { spec: apartFrom("web") }, onN3: { spec: apartFrom("web") } },
      { onN2: { spec: apartFrom("web") }, onN3: { spec: apartFrom("train") } },
    ],
    [
      "a pod without GPUs keeps it out of the zone",
      {
        more: [
          withSpec(podObject("c", "db", "db", 0, "n2"), apartFrom("web", zone)),
          podObject("c", "x", "web", 1, "n3"),
        ],
      },
      { more: [withSpec(podObject("c", "db", "db", 0, "n2"), apartFrom("web", zone))] },
    ],
    [
      "pods without GPUs that it avoids are there",
      {
        small: apartFrom("cache"),
        more: [podObject("c", "cache-2", "cache", 0, "n2"), podObject("c", "cache-3", "cache", 0, "n3")],
      },
      { small: apartFrom("cache"), more: [podObject("c", "cache-2", "cache", 0, "n2")] },
    ],
    [
      "the pods that it must be with are on its own node",
      { small: besides("cache"), more: [podObject("c", "cache-1", "cache", 0, "n1")] },
      { small: besides("cache"), more: [podObject("c", "cache-3", "cache", 0, "n3")] },
    ],
    [
      "its port is taken on the other nodes",
      { small: withPort(1), onN2: { spec: withPort(3) }, onN3: { spec: withPort(3) } },
      { small: withPort(1), onN2: { spec: withPort(3) } },
    ],
    [
      "the other nodes have enough pods like it",
      {
        small: spread("web", 1),
        onN2: { app: "web" },
        onN3: { app: "web" },
        more: [podObject("c", "w", "web", 0, "n2")],
      },
      { small: spread("web", 1), onN2: { app: "web" } },
    ],
    [
      "its volume is on the disk of its node",
      { small: mounted, volumes: [volumeAt(host, "n1")] },
      { small: mounted, volumes: [volumeAt(host, "n3")] },
    ],
    [
      "its volume is in a zone where nothing is free",
      { small: mounted, volumes: [volumeAt(zone, "c")] },
      { small: mounted, volumes: [volumeAt(zone, "b")] },
    ],
  ])("stays where %s, and moves where that is so of one node alone", (_what, wrong, right) => {
    const { targets, why } = advised(wrong);
    expect([targets, why === ""]).toEqual([[], false]);
    expect(advised(right).targets).toEqual(["Pod c/small"]);
  });

  it.each<[what: string, wrong: Case, reason: RegExp]>([
    [
      "volumes cannot be read",
      { small: mounted, volumes: [volumeAt(zone, "b")], unknown: ["persistentVolumes"] },
      /mounts claim data, and PersistentVolumeClaims and PersistentVolumes cannot be read: .*rbac\.optional\.volumes=true/,
    ],
    ["its claim is not there", { small: mounted }, /mounts claim data, which is not there/],
    [
      "a volume is made for it alone",
      { small: { volumes: [{ name: "tmp", ephemeral: { volumeClaimTemplate: {} } }] } },
      /a volume is made for it and goes with it/,
    ],
    [
      "a driver makes a volume on its node",
      { small: { volumes: [{ name: "tmp", csi: { driver: "example.com" } }] } },
      /a driver makes a volume for it on its node/,
    ],
    [
      "it selects namespaces by labels",
      {
        small: {
          affinity: { podAntiAffinity: { [required]: [{ ...term("peer"), namespaceSelector: { matchLabels: {} } }] } },
        },
      },
      /its pod anti-affinity has a namespaceSelector/,
    ],
    [
      "its spread heeds taints",
      {
        small: {
          topologySpreadConstraints: [
            { ...term("web"), maxSkew: 1, whenUnsatisfiable: "DoNotSchedule", nodeTaintsPolicy: "Honor" },
          ],
        },
      },
      /its topology spread heeds taints/,
    ],
  ])("stays where %s, and the reason is told", (_what, wrong, reason) => {
    const { targets, why } = advised(wrong);
    expect(targets).toEqual([]);
    expect(why).toMatch(reason);
  });

  it("mounts secrets by a driver, which keep it nowhere", () => {
    const secrets = { volumes: [{ name: "keys", csi: { driver: "secrets-store.csi.k8s.io", readOnly: true } }] };
    expect(advised({ small: secrets }).targets).toEqual(["Pod c/small"]);
  });

  it("never goes to spot capacity from better: those nodes are cordoned meanwhile, or it stays", () => {
    const both = advised({ labels: { n2: spot, n3: spot } });
    expect(both.targets).toEqual([]);
    expect(both.why).toMatch(/c\/small would have to move to spot capacity, .* never leads to worse capacity/);
    const unknown = advised({ labels: { n2: spot, n3: { [capacity]: "" } } });
    expect(unknown.targets).toEqual([]);
    const one = advised({ labels: { n2: spot } });
    expect(one.targets).toEqual(["Pod c/small"]);
    expect(one.steps.filter((title) => title.startsWith("Cordon")).join()).toMatch(/n1.*n2/);
    expect(advised({ labels: { n1: spot, n2: spot, n3: spot } }).targets).toEqual(["Pod c/small"]);
  });
});
