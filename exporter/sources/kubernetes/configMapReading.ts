import { parseJson } from "../../kernel/parseJson.ts";
import type { Problem } from "../../model/problem.ts";
import type { ApiClient } from "./apiClient.ts";
import type { Clock } from "./clock.ts";
import { isRecord, type JsonRecord } from "./fields.ts";
import { groupVersionPath } from "./kinds.ts";
import { setbackOf } from "./setback.ts";

/** Where a ConfigMap is. */
export interface ConfigMapPlace {
  readonly namespace: string;
  readonly name: string;
}

/** The content of a ConfigMap; `odd` is what is wrong with it, as the end of a sentence. */
export interface ConfigMapReading<Content> {
  readonly settings: Content | null;
  readonly odd: string | null;
}

/** One ConfigMap that the configuration names, what was read from it, and what is wrong with it. */
export interface WatchedConfigMap<Content> {
  readonly place: ConfigMapPlace;
  /** Where the configuration names it. */
  readonly setting: string;
  /** Of its problem. */
  readonly code: string;
  readonly parse: (data: JsonRecord) => ConfigMapReading<Content>;
  content: Content | null;
  /** Monotonic time of the last good reading. */
  readAt: number;
  problem: Problem | null;
}

/** How often ConfigMaps are read. */
export const configMapSeconds = 60;
/** What was read is used for this long while it cannot be read again. */
const maxAgeSeconds = 900;
const deadlineSeconds = 10;
/** A ConfigMap has at most 1 MiB. */
const maxBytes = 4 * 1024 * 1024;

/** A ConfigMap that was not read yet. */
export function watchedConfigMap<Content>(
  wanted: Pick<WatchedConfigMap<Content>, "place" | "setting" | "code" | "parse">,
): WatchedConfigMap<Content> {
  return { ...wanted, content: null, readAt: Number.NEGATIVE_INFINITY, problem: null };
}

/** What was read last, up to its age limit. */
export function lately<Content>(clock: Clock, entry: WatchedConfigMap<Content> | null): Content | null {
  return entry !== null && clock.monotonic() - entry.readAt <= maxAgeSeconds ? entry.content : null;
}

/** Reads it once; what cannot be read leaves what was read before, and a problem. */
export async function readConfigMap<Content>(
  client: ApiClient,
  clock: Clock,
  signal: AbortSignal,
  entry: WatchedConfigMap<Content>,
): Promise<void> {
  const { namespace, name } = entry.place;
  const path = `${groupVersionPath("", "v1")}/namespaces/${encodeURIComponent(namespace)}/configmaps/${encodeURIComponent(name)}`;
  const answer = await client.get(path, { accept: "application/json", signal, deadlineSeconds, maxBytes });
  if (signal.aborted) return;
  if (!answer.ok) {
    entry.problem = problemOf(entry, `cannot be read: ${answer.message}`, checkServer);
    return;
  }
  if (answer.status !== 200) {
    const { state, message } = setbackOf(answer.status, answer.body, answer.retryAfterSeconds);
    const advice = { forbidden: allowIt(entry), absent: correctIt(entry), failing: checkServer }[state];
    entry.problem = problemOf(entry, `cannot be read: ${message}`, advice);
    return;
  }
  const reading = entry.parse(dataOf(answer.body));
  if (reading.settings !== null) {
    entry.content = reading.settings;
    entry.readAt = clock.monotonic();
  }
  entry.problem = reading.odd === null ? null : problemOf(entry, reading.odd, correctIt(entry));
}

function dataOf(body: Buffer): JsonRecord {
  const object = parseJson(body);
  return isRecord(object) && isRecord(object.data) ? object.data : {};
}

type Named = Pick<WatchedConfigMap<unknown>, "place" | "setting" | "code">;

const checkServer = "Check that the API server answers; it is asked again by itself.";

function allowIt({ place: { namespace, name }, setting }: Named): string {
  return `Allow Fairlead's service account "get" on configmaps by a Role in namespace ${namespace} with resourceNames [${name}], or remove ${setting} from the configuration.`;
}

function correctIt({ place: { namespace, name }, setting }: Named): string {
  return `Look at it with "kubectl -n ${namespace} get configmap ${name} -o yaml", and correct ${setting} in the configuration or the ConfigMap.`;
}

function problemOf(entry: Named, found: string, nextStep: string): Problem {
  const { namespace, name } = entry.place;
  return {
    source: "kubernetes",
    code: entry.code,
    severity: "warning",
    subject: `configmap ${namespace}/${name}`,
    message: `ConfigMap ${namespace}/${name}, which ${entry.setting} names, ${found}`,
    nextStep,
  };
}
