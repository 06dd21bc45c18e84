import { readLabels, unescaped } from "../../kernel/exposition/labels.ts";
import { lexPage, type PageVocabulary } from "../../kernel/exposition/lexer.ts";
import { changedReading } from "../../model/changedReading.ts";
import type { DeviceReading, PodProcesses, TelemetryPage } from "../../model/telemetry.ts";

/** What the processes of a pod use of one GPU. */
export interface PodOnGpu extends PodProcesses {
  /** UUID of the GPU. */
  readonly uuid: string;
}

/** The page of an exporter that knows which pod each process on the GPUs of its node belongs to. */
export interface PodProcessPage {
  readonly node: string;
  readonly pods: readonly PodOnGpu[];
}

/** A metric whose value is the part of the time, in percent, in which the processes of a pod or container use a GPU. */
interface ProcessMetric {
  readonly name: string;
  /** Its place in the order of preference: HAMi may write the same values under two names. */
  readonly rank: number;
}

/**
 * KAI's metricsd (kai-scheduler/kai-gpu-fractioning, fractioning-manager/metricsd; the value that is normalized by the pod's share
 * is not used, since it is cut at 100), and HAMi's vGPUmonitor (Project-HAMi/HAMi, cmd/vGPUmonitor), in its present and its old spelling.
 */
const metrics: ReadonlyMap<string, ProcessMetric> = new Map(
  [
    "gpu_fractioning_gpu_sm_utilization_percent",
    "hami_container_device_utilization_ratio",
    "Device_utilization_desc_of_container",
  ].map((name, rank) => [name, { name, rank }] as const),
);

/** The greatest number of pods that are read of one page. */
const maxRows = 8192;

const roles: Readonly<Record<string, "uuid" | "namespace" | "pod" | "podUid">> = Object.assign(Object.create(null), {
  gpu_uuid: "uuid",
  device_uuid: "uuid",
  deviceuuid: "uuid",
  namespace: "namespace",
  podnamespace: "namespace",
  pod: "pod",
  podname: "pod",
  pod_uuid: "podUid",
});

type Labels = Readonly<Record<"uuid" | "namespace" | "pod" | "podUid", string>>;
const noLabels: Labels = { uuid: "", namespace: "", pod: "", podUid: "" };

const vocabulary: PageVocabulary<ProcessMetric, Labels> = {
  useOf: (name) => metrics.get(name) ?? "skip",
  readBlock: (bytes, open, lineEnd) => {
    const found: Record<keyof Labels, string> = { ...noLabels };
    const end = readLabels(bytes, open, lineEnd, (nameFrom, nameTo, valueFrom, valueTo) => {
      const role = roles[bytes.toString("latin1", nameFrom, nameTo)];
      if (role !== undefined) found[role] = unescaped(bytes.toString("utf8", valueFrom, valueTo));
    });
    return end < 0 ? null : { labels: found, end };
  },
  noLabels: () => noLabels,
};

/**
 * Reads the utilization of GPUs by pod; values of several containers or virtual GPUs of a pod on one GPU add up. Never throws.
 * A pod with a value that cannot be real is left out. `null` if the page has none of these metrics.
 */
export function readPodProcesses(bytes: Buffer): readonly PodOnGpu[] | null {
  const sums = new Map<string, { readonly labels: Labels; readonly byRank: number[] }>();
  let rows = 0;
  let isKnown = false;
  lexPage<Labels | null, ProcessMetric, Labels>(
    bytes,
    vocabulary,
    { acceptsCutLine: false },
    {
      row: (labels) => {
        rows += 1;
        return rows > maxRows ? null : labels;
      },
      sample: ({ rank }, labels, value) => {
        isKnown = true;
        if (labels === null || labels.uuid === "" || labels.pod === "") return;
        const key = JSON.stringify([labels.uuid, labels.namespace, labels.pod, labels.podUid]);
        const known = sums.get(key) ?? { labels, byRank: [] };
        known.byRank[rank] = (known.byRank[rank] ?? 0) + (value >= 0 && value <= 100 ? value : Number.NaN);
        sums.set(key, known);
      },
      malformed: () => {},
    },
  );
  if (!isKnown) return null;
  return [...sums.values()].flatMap(({ labels, byRank }) => {
    const percent = byRank.find((value) => value !== undefined) ?? Number.NaN;
    if (Number.isNaN(percent)) return [];
    const { uuid, namespace, pod, podUid } = labels;
    return [{ uuid, namespace, pod, podUid: podUid === "" ? null : podUid, util: Math.min(1, percent / 100) }];
  });
}

/**
 * The pages with what processes of pods use of each whole GPU, for GPUs of the node that the process page is from: a page speaks
 * for no other node.
 */
export function withPodProcesses(
  pages: readonly TelemetryPage[],
  ofPods: readonly PodProcessPage[],
): readonly TelemetryPage[] {
  if (ofPods.length === 0) return pages;
  const byNode = new Map(ofPods.map(({ node, pods }) => [node, Map.groupBy(pods, ({ uuid }) => uuid)] as const));
  return pages.map((page) => {
    const found = page.node === null ? undefined : byNode.get(page.node);
    return found === undefined ? page : { ...page, devices: page.devices.map((device) => withPods(device, found)) };
  });
}

function withPods(device: DeviceReading, byUuid: ReadonlyMap<string, readonly PodOnGpu[]>): DeviceReading {
  const pods = device.gpuInstance === null ? byUuid.get(device.uuid) : undefined;
  return pods === undefined ? device : changedReading(device, { podProcesses: pods });
}
