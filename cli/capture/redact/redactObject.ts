import { writtenGpus } from "../../../exporter/join/holdings/fractions.ts";
import { isRecord } from "../../../exporter/kernel/parseJson.ts";
import { containerShares, isContainerShare } from "../../../exporter/model/wellKnown.ts";
import type { Pseudonyms } from "./pseudonyms.ts";
import { annotationIs, isCommonName, isPublicLabel, isPublicText } from "./publicText.ts";

/** How texts are replaced. */
export interface Redaction {
  readonly pseudonyms: Pseudonyms;
  /** Names of this cluster that may occur in texts for people. */
  readonly names: ReadonlySet<string>;
}

/** Fields that name something of the API and nothing of a cluster. */
const apiFields: ReadonlySet<string> = new Set(["apiVersion", "kind"]);
/** Fields whose keys are keys of labels. */
const labelFields: ReadonlySet<string> = new Set(["labels", "nodeLabels", "matchLabels", "nodeSelector"]);
/** Fields with texts for people: the words stay, and names are replaced. */
const textFields: ReadonlySet<string> = new Set(["message", "reason", "underlyingCause"]);
/** Fields with the key of a label, or with what stands for one. */
const keyFields: ReadonlySet<string> = new Set([
  "key",
  "topologyKey",
  "matchLabelKeys",
  "nodeLabel",
  "alias",
  "required",
  "requiredTopologyLevel",
]);
/** Fields that name an object, whatever their text looks like. */
const nameField =
  /^(?:name|namespaces?|hostname|user|username|displayName|.*(?:Name|IP)|queue|clusterQueue|localQueue|parentQueue|cohort|parent|pool|topology)$/;

/** A copy of parsed JSON in which no name of the cluster is left. */
export function redactObject(value: unknown, redaction: Redaction): unknown {
  return redact(value, "", redaction);
}

function redact(value: unknown, field: string, redaction: Redaction): unknown {
  const { pseudonyms } = redaction;
  if (typeof value === "string") return redactText(value, field, redaction);
  if (Array.isArray(value)) return value.map((item) => redact(item, field, redaction));
  if (!isRecord(value)) return value;
  if (field === "annotations") return redactAnnotations(value, redaction);
  if (field === "attributes") return mapTexts(value, pseudonyms.withoutUuids);
  // The values of a selector are values of the label that its key names.
  const { key } = value;
  return Object.fromEntries(
    Object.entries(value).map(([name, of]) => {
      if (labelFields.has(field) && typeof of === "string")
        return [keyOf(name, redaction), labelValue(name, of, redaction)];
      if (name === "values" && typeof key === "string" && Array.isArray(of))
        return [name, of.map((one: unknown) => (typeof one === "string" ? labelValue(key, one, redaction) : one))];
      return [keyOf(name, redaction), redact(of, name, redaction)];
    }),
  );
}

function redactText(text: string, field: string, redaction: Redaction): string {
  const { pseudonyms } = redaction;
  if (apiFields.has(field)) return text;
  if (textFields.has(field)) return withoutNames(text, redaction);
  if (field === "providerID")
    return text.replace(/^([a-z]+:\/\/)(.*)$/, (_, scheme: string, rest: string) => scheme + pseudonyms.ofName(rest));
  if (keyFields.has(field)) return keyOf(text, redaction);
  const isKept = nameField.test(field) ? isCommonName(text) : isPublicText(text);
  return isKept ? text : pseudonyms.ofName(text);
}

function labelValue(key: string, value: string, { pseudonyms }: Redaction): string {
  return value === "" || isCommonName(value) || isPublicLabel(key, value) ? value : pseudonyms.ofName(value);
}

function redactAnnotations(annotations: Readonly<Record<string, unknown>>, redaction: Redaction): unknown {
  return Object.fromEntries(
    Object.entries(annotations).flatMap(([key, value]): readonly (readonly [string, string])[] => {
      if (isContainerShare(key) && typeof value === "string") return redactShare(key, value, redaction);
      const is = annotationIs(key);
      if (is === "left-out" || typeof value !== "string") return [];
      if (is === "formatted") return [[key, withoutNames(value, redaction)]];
      return [[key, isPublicText(value) ? value : redaction.pseudonyms.ofName(value)]];
    }),
  );
}

/** The share of a GPU that a container has: its name is in the key, and anything may be in the value. */
function redactShare(key: string, value: string, { pseudonyms }: Redaction): readonly (readonly [string, string])[] {
  const { prefix, ...endings } = containerShares;
  const ending = Object.values(endings).find((one) => key.endsWith(one)) ?? "";
  const name = `${prefix}${pseudonyms.ofName(key.slice(prefix.length, key.length - ending.length))}${ending}`;
  if (ending !== endings.devices) return /^[\d.]{1,20}[A-Za-z]{0,2}$/.test(value) ? [[name, value]] : [];
  return [
    [
      name,
      writtenGpus({ annotations: { [key]: value } })
        .map((uuid) => pseudonyms.withoutUuids(uuid))
        .join(","),
    ],
  ];
}

/** The key without names of the cluster. Keys of Kubernetes and of public projects stay as they are. */
function keyOf(key: string, redaction: Redaction): string {
  return isCommonName(key) ? key : withoutNames(key, redaction);
}

/** A text in which UUIDs and the names of the cluster are replaced. */
function withoutNames(text: string, { pseudonyms, names }: Redaction): string {
  return pseudonyms
    .withoutUuids(text)
    .replace(/[\p{L}\p{N}](?:[\p{L}\p{N}._-]*[\p{L}\p{N}])?/gu, (word) =>
      names.has(word) && !isCommonName(word) ? pseudonyms.ofName(word) : word,
    );
}

function mapTexts(value: unknown, replace: (text: string) => string): unknown {
  if (typeof value === "string") return replace(value);
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, replace));
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, of]) => [name, mapTexts(of, replace)]));
}
