import type { Config } from "../../exporter/config/schema.ts";
import type { Problem } from "../../exporter/model/problem.ts";
import { createSlots } from "../../exporter/sources/http/slots.ts";
import type { ApiClient } from "../../exporter/sources/kubernetes/apiClient.ts";
import { decodeNode } from "../../exporter/sources/kubernetes/decodeCluster.ts";
import type { DumpFiles } from "../inspect/readFiles.ts";
import { type Collection, findCollections } from "./collections.ts";
import { exporterPages, fetchPages, gpuNodesOf } from "./exporterPages.ts";
import { filesOf, type Listed, listObjects } from "./listObjects.ts";
import { apiUnusable, kindUnread, noExporters } from "./missingSources.ts";

/** What a cluster has right now, as the files of a dump; or why nothing of it can be read. */
export type CapturedCluster = ({ readonly ok: true } & DumpFiles) | { readonly ok: false; readonly problem: Problem };

/** How a cluster is captured. */
export interface CaptureOptions {
  readonly config: Config;
  /** Is aborted when the time is over; what has not arrived by then is missing from the dump. */
  readonly signal: AbortSignal;
  /** The time of the capture, seconds since the epoch. */
  readonly now: number;
  readonly onProgress: (step: string) => void;
}

/** The number of lists that are read at the same time: the API server limits each user. */
const listsAtOnce = 6;

/**
 * Reads every kind that answers are made of and that may be read, and the page of each node's exporter, through the API server
 * alone. Secrets and ConfigMaps are not read.
 */
export async function captureCluster(client: ApiClient, options: CaptureOptions): Promise<CapturedCluster> {
  const { config, signal, now, onProgress } = options;
  const found = await findCollections(client, signal);
  if (!found.ok) return { ok: false, problem: apiUnusable(found.setback) };
  onProgress(`reading ${found.collections.length} kinds of objects`);
  const slots = createSlots(listsAtOnce);
  const lists = found.collections.map((collection) =>
    slots.run(() => listObjects(client, collection, config.kubernetes.pageSize, signal)),
  );
  const [pods, nodes] = [listOf("pods", found.collections, lists), listOf("nodes", found.collections, lists)];
  const telemetry = await readTelemetry(client, await pods, await nodes, options);
  const listed = await Promise.all(lists);
  onProgress(`read ${listed.filter(({ ok }) => ok).length} kinds and ${telemetry.files.length} pages`);
  const unread = listed.flatMap((list) => (list.ok ? [] : [kindUnread(list.collection.name, list.setback)]));
  const refused = listed.every((list) => !list.ok) ? listed.find((list) => !list.ok) : undefined;
  if (refused !== undefined && !refused.ok) return { ok: false, problem: apiUnusable(refused.setback) };
  return {
    ok: true,
    files: [
      ...listed.flatMap((list) => (list.ok ? filesOf(list.collection, list.objects, now) : [])),
      ...telemetry.files,
    ],
    problems: [...found.failed.map(({ name, setback }) => kindUnread(name, setback)), ...unread, ...telemetry.problems],
  };
}

async function listOf(
  name: string,
  collections: readonly Collection[],
  lists: readonly Promise<Listed>[],
): Promise<readonly unknown[] | null> {
  const list = await lists[collections.findIndex((one) => one.name === name)];
  return list?.ok === true ? list.objects : null;
}

async function readTelemetry(
  client: ApiClient,
  pods: readonly unknown[] | null,
  nodes: readonly unknown[] | null,
  { config, signal, now, onProgress }: CaptureOptions,
): Promise<DumpFiles> {
  if (pods === null) return { files: [], problems: [] };
  const decoded = nodes?.map(decodeNode).flatMap((node) => (node.ok ? [node.value] : [])) ?? null;
  const { pages, problems } = exporterPages(pods, decoded === null ? null : gpuNodesOf(decoded), config);
  if (pages.length === 0) return { files: [], problems: [...problems, noExporters(pods, config)] };
  onProgress(`found ${pods.length} pods and ${pages.length} exporters; reading their pages`);
  const fetched = await fetchPages(client, pages, config.dcgm, now, signal);
  return { files: fetched.files, problems: [...problems, ...fetched.problems] };
}
