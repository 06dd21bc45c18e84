import { type FleetPod, nodeAddress, nodeName, type PodClass, teamName, widths } from "./layout.ts";
import { messages } from "./messages.ts";
import { namespaceObject, nodeObject, podObject } from "./objects.ts";
import { delimited, encodeMessage, text } from "./protobuf.ts";
import { createTemplate, type Template, writeTemplate } from "./template.ts";

/** The format of objects: one of the two formats of an API server. */
export type Encoding = "json" | "protobuf";

type KindName = keyof typeof messages;

/** Templates of every kind of object in one encoding. */
export interface Templates {
  readonly pods: Readonly<Record<PodClass, Template>>;
  readonly node: Template;
  readonly namespace: Template;
}

/** Makes the templates. `useExporterPort` must be called before. */
export function createTemplates(encoding: Encoding): Templates {
  const make = (kind: KindName, object: object): Template =>
    createTemplate(encodeObject(encoding, kind, object), widths);
  return {
    pods: {
      exporter: make("Pod", podObject("exporter")),
      cpu: make("Pod", podObject("cpu")),
      gpu1: make("Pod", podObject("gpu1")),
      gpu2: make("Pod", podObject("gpu2")),
      gpu8: make("Pod", podObject("gpu8")),
    },
    node: make("Node", nodeObject),
    namespace: make("Namespace", namespaceObject),
  };
}

/** Encodes one object without kind and apiVersion, as an item of a list. */
export function encodeObject(encoding: Encoding, kind: KindName, object: object): Buffer {
  return encoding === "json"
    ? Buffer.from(JSON.stringify(object), "latin1")
    : encodeMessage(messages[kind], forProtobuf(object));
}

/** Changes an object for protobuf: JSON has a volume's source beside its name, and protobuf has it inside `volumeSource`. */
function forProtobuf(object: object): object {
  if (!("spec" in object) || typeof object.spec !== "object" || object.spec === null) return object;
  const { spec } = object;
  if (!("volumes" in spec) || !Array.isArray(spec.volumes)) return object;
  const volumes = spec.volumes.map(({ name, ...volumeSource }: { name: string }) => ({ name, volumeSource }));
  return { ...object, spec: { ...spec, volumes } };
}

/** The values of the fields of a pod's template. */
export function podValues(pod: FleetPod, version: string): Readonly<Record<string, string>> {
  return {
    node: nodeName(pod.node),
    team: pod.kind === "exporter" ? teamName(0) : pod.namespace,
    podName: pod.name,
    podUid: pod.uid,
    job: pod.job,
    jobUid: pod.jobUid,
    version,
    ip: nodeAddress(pod.node),
  };
}

/** The bytes of one object, made from its template. */
export function objectBytes(template: Template, values: Readonly<Record<string, string>>): Buffer {
  const bytes = Buffer.allocUnsafe(template.bytes.length);
  writeTemplate(template, values, bytes, 0);
  return bytes;
}

const magic = Buffer.from("k8s\0", "latin1");

/** Puts the envelope of a protobuf answer around bytes: `k8s\0` and `runtime.Unknown`. */
export function envelope(kind: string, apiVersion: string, raw: Buffer): Buffer {
  const typeMeta = Buffer.concat([text(1, apiVersion), text(2, kind)]);
  return Buffer.concat([magic, delimited(1, typeMeta), delimited(2, raw), text(3, ""), text(4, "")]);
}

/** Encodes a page of a list. */
export function encodeList(
  encoding: Encoding,
  list: { readonly kind: string; readonly apiVersion: string; readonly version: string; readonly next: string },
  items: readonly Buffer[],
): Buffer {
  const { kind, apiVersion, version, next } = list;
  if (encoding === "protobuf") {
    const meta = Buffer.concat([text(1, ""), text(2, version), text(3, next)]);
    return envelope(kind, apiVersion, Buffer.concat([delimited(1, meta), ...items.map((item) => delimited(2, item))]));
  }
  const metadata = JSON.stringify({ resourceVersion: version, ...(next === "" ? {} : { continue: next }) });
  const parts: Buffer[] = [
    Buffer.from(`{"kind":"${kind}","apiVersion":"${apiVersion}","metadata":${metadata},"items":[`),
  ];
  for (const [at, item] of items.entries()) parts.push(...(at === 0 ? [] : [comma]), item);
  return Buffer.concat([...parts, Buffer.from("]}\n")]);
}

const comma = Buffer.from(",");

/** Encodes one event of a watch. `object` is without kind and apiVersion. */
export function encodeEvent(
  encoding: Encoding,
  type: string,
  kind: string,
  apiVersion: string,
  object: Buffer,
): Buffer {
  if (encoding === "json") {
    const head = `{"type":"${type}","object":{"kind":"${kind}","apiVersion":"${apiVersion}",`;
    return Buffer.concat([Buffer.from(head), object.subarray(1), Buffer.from("}\n")]);
  }
  const event = Buffer.concat([text(1, type), delimited(2, delimited(1, envelope(kind, apiVersion, object)))]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(event.length);
  return Buffer.concat([length, event]);
}
