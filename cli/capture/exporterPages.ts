import type { Config } from "../../exporter/config/schema.ts";
import { gpuLikeResource } from "../../exporter/model/gpuResource.ts";
import type { Problem } from "../../exporter/model/problem.ts";
import { createExporterBelief } from "../../exporter/sources/dcgm/believedExporters.ts";
import { discoverTargets } from "../../exporter/sources/dcgm/discover.ts";
import { createSlots } from "../../exporter/sources/http/slots.ts";
import type { ApiClient } from "../../exporter/sources/kubernetes/apiClient.ts";
import { decodePod } from "../../exporter/sources/kubernetes/decodePod.ts";
import { selectorProblems } from "../../exporter/sources/kubernetes/exporterPods.ts";
import { setbackOf } from "../../exporter/sources/kubernetes/setback.ts";
import type { ExporterPod } from "../../exporter/sources/kubernetes/state.ts";
import type { DumpFile } from "../inspect/readFiles.ts";

/** The page of one exporter, as the API server gives it. */
export interface ExporterPage {
  readonly node: string;
  /** Namespace and name of the exporter's pod: `gpu-operator/nvidia-dcgm-exporter-x2x4z`. */
  readonly pod: string;
  /** Path at the API server that leads to the page. */
  readonly path: string;
}

/** The pages of a cluster's exporters, the best one for each node, and the problems with this choice. */
export function exporterPages(
  pods: readonly unknown[],
  gpuNodes: ReadonlySet<string> | null,
  config: Config,
): { readonly pages: readonly ExporterPage[]; readonly problems: readonly Problem[] } {
  const exporters = config.dcgm.discovery;
  const projection = { gpuResources: new Set<string>(), exporters };
  const candidates = pods.flatMap((value): readonly ExporterPod[] => {
    const decoded = decodePod(value, projection);
    return decoded.ok && decoded.value.exporterPod !== null ? [decoded.value.exporterPod] : [];
  });
  const believed = createExporterBelief().believe(candidates, gpuNodes, 0);
  const pages = believed.pods.flatMap((pod): readonly ExporterPage[] => {
    const [target] = discoverTargets([pod], config.dcgm.discovery, []);
    if (target === undefined) return [];
    const { protocol, port, pathname, search } = new URL(target.url);
    const isTls = protocol === "https:";
    const number = port === "" ? (isTls ? 443 : 80) : Number(port);
    const subject = `${isTls ? "https:" : ""}${pod.name}:${number}`;
    const path = `/api/v1/namespaces/${pod.namespace}/pods/${subject}/proxy${pathname}${search}`;
    return [{ node: pod.nodeName, pod: `${pod.namespace}/${pod.name}`, path }];
  });
  const onePerNode = new Map(pages.map((page) => [page.node, page]));
  return { pages: [...onePerNode.values()], problems: [...selectorProblems(exporters), ...believed.problems] };
}

/** The names of nodes with GPUs. */
export function gpuNodesOf(
  nodes: readonly { readonly name: string; readonly capacity: object }[],
): ReadonlySet<string> {
  return new Set(
    nodes.filter(({ capacity }) => Object.keys(capacity).some((name) => gpuLikeResource(name))).map(({ name }) => name),
  );
}

/** The pages that could be read, and the problems that kept others from being read. */
export interface FetchedPages {
  readonly files: readonly DumpFile[];
  readonly problems: readonly Problem[];
}

/** Gets the pages through the API server's proxy of pods. */
export async function fetchPages(
  client: ApiClient,
  pages: readonly ExporterPage[],
  { timeoutSeconds, maxPageBytes, concurrency }: Config["dcgm"],
  at: number,
  signal: AbortSignal,
): Promise<FetchedPages> {
  const slots = createSlots(concurrency);
  const fetched = await Promise.all(
    pages.map((page) =>
      slots.run(async () => {
        const { node, path } = page;
        const answer = await client.get(path, {
          accept: "text/plain;version=0.0.4",
          signal,
          deadlineSeconds: timeoutSeconds,
          maxBytes: maxPageBytes,
        });
        if (!answer.ok) return unanswered(page, answer.message);
        if (answer.status === 200)
          return { path: `${node}.prom`, stem: node, kind: "page" as const, bytes: answer.body, modifiedAt: at };
        const { state, message } = setbackOf(answer.status, answer.body, null);
        return state === "forbidden" ? forbidden(page, message) : unanswered(page, message);
      }),
    ),
  );
  return {
    files: fetched.flatMap((one) => ("bytes" in one ? [one] : [])),
    problems: fetched.flatMap((one) => ("code" in one ? [one] : [])),
  };
}

function forbidden({ pod, node }: ExporterPage, message: string): Problem {
  return {
    source: "kubernetes",
    code: "pod-proxy-forbidden",
    severity: "error",
    subject: node,
    message: `You may not read the page of ${pod} through the API server: ${message}`,
    nextStep:
      "Ask for the right to get pods/proxy in the exporters' namespace (docs/now.md has a Role); without it the GPUs of these nodes are unobserved.",
  };
}

function unanswered({ pod, node }: ExporterPage, message: string): Problem {
  return {
    source: "dcgm",
    code: "page-not-read",
    severity: "warning",
    subject: node,
    message: `${pod} gives no page through the API server: ${message}`,
    nextStep: `Look at the exporter: kubectl -n ${pod.split("/")[0]} logs ${pod.split("/")[1]}; the API server must reach pods (a NetworkPolicy may forbid it).`,
  };
}
