import { isRecord, type JsonRecord, parseJson } from "../../kernel/parseJson.ts";
import type { Problem } from "../../model/problem.ts";
import type { ApiClient } from "./apiClient.ts";
import { type Clock, type Repetition, repeat } from "./clock.ts";
import { groupVersionPath } from "./kinds.ts";
import { getGood } from "./setback.ts";

/** The place of a ConfigMap in the cluster. */
export interface ConfigMapPlace {
  readonly namespace: string;
  readonly name: string;
}

/** The content of a ConfigMap; `odd` describes what is wrong with it, as the end of a sentence. */
export interface ConfigMapReading<Content> {
  readonly settings: Content | null;
  readonly odd: string | null;
}

/** A ConfigMap that the configuration names. */
export interface NamedConfigMap {
  readonly place: ConfigMapPlace;
  /** The setting of the configuration that names it. */
  readonly setting: string;
  /** The code of its problem, if it cannot be read or something in it is odd. */
  readonly code: string;
}

/** Reads one ConfigMap repeatedly. */
export interface ConfigMapReader<Content> extends Repetition {
  /** The content that was read last, up to its age limit; the same object until it is read again. */
  read(): Content | null;
  problems(): readonly Problem[];
}

/** Time between two readings of a ConfigMap. */
const secondsBetween = 60;
/** How long the last content is used while the ConfigMap cannot be read again. */
const maxAgeSeconds = 900;
const deadlineSeconds = 10;
/** The largest answer that is read; a ConfigMap has at most 1 MiB. */
const maxBytes = 4 * 1024 * 1024;

/** Creates a reader of a ConfigMap. If it cannot be read, the last content is kept, and there is a problem. */
export function createConfigMapReader<Content>(
  client: ApiClient,
  clock: Clock,
  named: NamedConfigMap,
  parse: (data: JsonRecord) => ConfigMapReading<Content>,
): ConfigMapReader<Content> {
  const { namespace, name } = named.place;
  const path = `${groupVersionPath("", "v1")}/namespaces/${encodeURIComponent(namespace)}/configmaps/${encodeURIComponent(name)}`;
  let last: { readonly content: Content; readonly readAt: number } | null = null;
  let problem: Problem | null = null;

  const look = async (signal: AbortSignal): Promise<void> => {
    const answer = await getGood(client, path, { accept: "application/json", signal, deadlineSeconds, maxBytes });
    if (signal.aborted) return;
    if (!answer.ok) {
      const { state, message } = answer.setback;
      const advice = { forbidden: allowIt(named), absent: correctIt(named), failing: checkServer }[state];
      problem = problemOf(named, `cannot be read: ${message}`, advice);
      return;
    }
    const { settings, odd } = parse(dataOf(answer.body));
    if (settings !== null) last = { content: settings, readAt: clock.monotonic() };
    problem = odd === null ? null : problemOf(named, odd, correctIt(named));
  };

  return {
    ...repeat(clock, secondsBetween, look),
    read: () => (last !== null && clock.monotonic() - last.readAt <= maxAgeSeconds ? last.content : null),
    problems: () => (problem === null ? [] : [problem]),
  };
}

function dataOf(body: Buffer): JsonRecord {
  const object = parseJson(body);
  return isRecord(object) && isRecord(object.data) ? object.data : {};
}

const checkServer = "Check that the API server answers; it is asked again by itself.";

function allowIt({ place: { namespace, name }, setting }: NamedConfigMap): string {
  return `Allow Fairlead's service account "get" on configmaps by a Role in namespace ${namespace} with resourceNames [${name}], or remove ${setting} from the configuration.`;
}

function correctIt({ place: { namespace, name }, setting }: NamedConfigMap): string {
  return `Look at it with "kubectl -n ${namespace} get configmap ${name} -o yaml", and correct ${setting} in the configuration or the ConfigMap.`;
}

function problemOf(entry: NamedConfigMap, found: string, nextStep: string): Problem {
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
