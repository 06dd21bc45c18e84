import { type JsonRecord, parseJson } from "../../kernel/parseJson.ts";
import type { AutoscalerNodeGroup } from "../../model/nodePools.ts";
import type { ApiClient } from "./apiClient.ts";
import { cut } from "./boundedFields.ts";
import type { Clock } from "./clock.ts";
import {
  type ConfigMapPlace,
  type ConfigMapReader,
  type ConfigMapReading,
  createConfigMapReader,
} from "./configMapReading.ts";

/** Reads the node groups of the Cluster Autoscaler from the ConfigMap that the configuration names, repeatedly. */
export function createAutoscalerStatus(
  client: ApiClient,
  clock: Clock,
  place: ConfigMapPlace,
): ConfigMapReader<readonly AutoscalerNodeGroup[]> {
  const named = { place, setting: "clusterAutoscaler.statusConfigMap", code: "autoscaler-status" };
  return createConfigMapReader(client, clock, named, readAutoscalerStatus);
}

/** Key under which the Cluster Autoscaler keeps its status. */
export const autoscalerStatusKey = "status";

/** No cluster has more node groups than this; addresses of instance groups are long. */
const mostGroups = 5000;
const maxNameChars = 512;
const maxChars = 1024 * 1024;

/**
 * The node groups in the status of the Cluster Autoscaler, which is YAML since 1.30 (`ClusterAutoscalerStatus` of
 * cluster-autoscaler/clusterstate/api) and was a text for people before. It is read line by line: a YAML parser needs a hundred
 * milliseconds for a hundred groups, and the text is different each time.
 */
export function readAutoscalerStatus(data: JsonRecord): ConfigMapReading<readonly AutoscalerNodeGroup[]> {
  const text = Object.hasOwn(data, autoscalerStatusKey) ? data[autoscalerStatusKey] : undefined;
  if (typeof text !== "string") return { settings: null, odd: `has no key ${autoscalerStatusKey}` };
  if (text.length > maxChars) return { settings: null, odd: "is larger than a ConfigMap can be" };
  if (text.startsWith("Cluster-autoscaler status at ")) return { settings: groupsInText(text), odd: null };
  if (!/^autoscalerStatus: ./m.test(text)) return { settings: null, odd: "has no status of the Cluster Autoscaler" };
  return { settings: groupsInYaml(text), odd: null };
}

/** A group as far as it was read. */
interface OpenGroup {
  name: string | null;
  minSize: number | null;
  maxSize: number | null;
  /** Indent of its own keys; `null` before the first of them. */
  indent: number | null;
  /** The key of its own under which the present lines are. */
  section: string;
}

/**
 * The groups in the list `nodeGroups` in block style, as the autoscaler writes it. Each group has its `name`, and its sizes in
 * `health`.
 */
function groupsInYaml(text: string): readonly AutoscalerNodeGroup[] {
  const groups: AutoscalerNodeGroup[] = [];
  let group: OpenGroup | null = null;
  let listIndent: number | null = null;
  let isInside = false;
  const close = (): void => {
    if (group !== null && group.name !== null && group.name !== "" && groups.length < mostGroups) {
      groups.push({ name: cut(group.name, maxNameChars), minSize: group.minSize, maxSize: group.maxSize });
    }
    group = null;
  };
  for (const line of text.split("\n")) {
    if (/^[A-Za-z]/.test(line)) {
      isInside = /^nodeGroups:/.test(line);
      continue;
    }
    const found = isInside ? /^( *)(-(?: +|$))?(?:([A-Za-z]+):(?: +|$)(.*))?/.exec(line) : null;
    if (found === null) continue;
    const [, blank = "", dash = "", key = "", value = ""] = found;
    if (dash !== "" && blank.length <= (listIndent ?? blank.length)) {
      close();
      listIndent = blank.length;
      group = { name: null, minSize: null, maxSize: null, indent: null, section: "" };
    }
    if (group !== null && key !== "") takeKey(group, blank.length + dash.length, key, value.trimEnd());
  }
  close();
  return groups;
}

function takeKey(group: OpenGroup, indent: number, key: string, value: string): void {
  group.indent ??= indent;
  if (indent === group.indent) {
    group.section = key;
    if (key === "name") group.name = textIn(value);
  } else if (indent > group.indent && group.section === "health") {
    if (key === "minSize") group.minSize = sizeIn(value);
    if (key === "maxSize") group.maxSize = sizeIn(value);
  }
}

/** The text of a scalar on one line, in quotes or not. */
function textIn(value: string): string {
  const quoted = /^'(.*)'$/.exec(value)?.[1];
  if (quoted !== undefined) return quoted.replaceAll("''", "'");
  if (!value.startsWith('"')) return value;
  const text = parseJson(value);
  return typeof text === "string" ? text : "";
}

const sizeIn = (value: string): number | null => (/^\d{1,6}$/.test(value) ? Number(value) : null);

/**
 * The groups in the text for people: `Name:` is on one line, and the sizes `(minSize=1, maxSize=7)` are on the line of its
 * health.
 */
function groupsInText(text: string): readonly AutoscalerNodeGroup[] {
  const groups: AutoscalerNodeGroup[] = [];
  let name: string | null = null;
  for (const line of text.split("\n")) {
    if (groups.length === mostGroups) break;
    const named = /^ {2}Name: +(\S{1,512})\s*$/.exec(line);
    if (named?.[1] !== undefined) name = named[1];
    const sizes = name === null ? null : /\(min(?:Size)?=(\d{1,6}), max(?:Size)?=(\d{1,6})\)/.exec(line);
    if (name === null || sizes === null) continue;
    groups.push({ name, minSize: Number(sizes[1]), maxSize: Number(sizes[2]) });
    name = null;
  }
  return groups;
}
