import { readFileSync } from "node:fs";
import { isRecord } from "../exporter/kernel/parseJson.ts";
import {
  fieldOf,
  protobufCursor,
  readLimit,
  readTag,
  skipField,
  wireTypeOf,
  wireTypes,
} from "../exporter/kernel/protobuf.ts";
import { openEnvelope } from "../exporter/sources/kubernetes/protobuf/envelope.ts";

/** Pods of 500 namespaces on 10,000 nodes, as pages and events in one format. */
export interface PodBytes {
  readonly pages: readonly Buffer[];
  /** The bytes of one watch: an event with a change of every pod. */
  readonly events: Buffer;
  /**
   * The offset of the first character of each pod's uid: a pass that changes this character makes other pods from the same
   * bytes.
   */
  readonly uidsOfPages: readonly (readonly number[])[];
}

export const pageSize = 500;

const placeholders = {
  plain: { name: "plain-000000", prefix: "plain-" },
  gpu: { name: "train-000000", prefix: "train-" },
} as const;

type Template = { readonly bytes: Buffer; readonly uid: string };
type Templates = Readonly<Record<keyof typeof placeholders, Template>>;

function captured(file: string): Buffer {
  return readFileSync(new URL(`../test/captured/kubernetes-wire/${file}`, import.meta.url));
}

function uidsByName(): ReadonlyMap<string, string> {
  const list: unknown = JSON.parse(captured("pods.json").toString("utf8"));
  const pods: readonly unknown[] = isRecord(list) && Array.isArray(list.items) ? list.items : [];
  return new Map(
    pods.flatMap((pod) => {
      const metadata = isRecord(pod) && isRecord(pod.metadata) ? pod.metadata : {};
      return [[String(metadata.name), String(metadata.uid)] as const];
    }),
  );
}

function templates(items: readonly Buffer[]): Templates {
  const uids = uidsByName();
  const find = (name: string): Template => {
    const uid = uids.get(name) ?? "";
    const bytes = items.find((item) => item.includes(uid));
    if (uid === "" || bytes === undefined) throw new Error(`no captured pod ${name}`);
    return { bytes, uid };
  };
  return { plain: find(placeholders.plain.name), gpu: find(placeholders.gpu.name) };
}

/** Overwrites every occurrence of `from` with `to`, which must have the same length. */
function replaceAll(bytes: Buffer, from: string, to: string): void {
  if (from.length !== to.length) throw new Error(`${from} and ${to} differ in length`);
  for (let at = bytes.indexOf(from, 0, "latin1"); at !== -1; at = bytes.indexOf(from, at + to.length, "latin1")) {
    bytes.write(to, at, "latin1");
  }
}

function podOf(all: Templates, index: number, gpuPercent: number): Buffer {
  const kind = index % 100 < gpuPercent ? "gpu" : "plain";
  const { bytes, uid } = all[kind];
  const pod = Buffer.from(bytes);
  replaceAll(pod, placeholders[kind].name, placeholders[kind].prefix + String(index).padStart(6, "0"));
  replaceAll(pod, uid, uidOf(index));
  replaceAll(pod, "team-000", `team-${String(index % 500).padStart(3, "0")}`);
  replaceAll(pod, "node-0000", `node-${String((index * 7919) % 10_000).padStart(4, "0")}`);
  return pod;
}

const uidMark = "-0000-4000-8000-";

function uidOf(index: number): string {
  const scattered = Math.imul(index + 1, 0x9e3779b1) >>> 0;
  return `0${scattered.toString(16).padStart(8, "0").slice(1)}${uidMark}${index.toString(16).padStart(12, "0")}`;
}

function findUids(page: Buffer): readonly number[] {
  const found: number[] = [];
  for (let at = page.indexOf(uidMark); at !== -1; at = page.indexOf(uidMark, at + 1)) found.push(at - 8);
  return found;
}

function inPages(pods: readonly Buffer[], page: (items: readonly Buffer[]) => Buffer): readonly Buffer[] {
  const pages: Buffer[] = [];
  for (let at = 0; at < pods.length; at += pageSize) pages.push(page(pods.slice(at, at + pageSize)));
  return pages;
}

function podBytes(pods: readonly Buffer[], page: (items: readonly Buffer[]) => Buffer, events: Buffer): PodBytes {
  const pages = inPages(pods, page);
  return { pages, events, uidsOfPages: pages.map(findUids) };
}

/** Pods in JSON, as an API server writes them. `gpuPercent`: how many pods in a hundred ask for GPUs. */
export function jsonPods(count: number, gpuPercent: number): PodBytes {
  const list: unknown = JSON.parse(captured("pods.json").toString("utf8"));
  const items: readonly unknown[] = isRecord(list) && Array.isArray(list.items) ? list.items : [];
  const all = templates(items.map((item) => Buffer.from(JSON.stringify(item))));
  const pods = Array.from({ length: count }, (_, index) => podOf(all, index, gpuPercent));
  const head = Buffer.from('{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":[');
  const page = (some: readonly Buffer[]): Buffer =>
    Buffer.concat([
      head,
      ...some.flatMap((pod, at) => (at === 0 ? [pod] : [Buffer.from(","), pod])),
      Buffer.from("]}"),
    ]);
  const event = (pod: Buffer): Buffer[] => [Buffer.from('{"type":"MODIFIED","object":'), pod, Buffer.from("}\n")];
  return podBytes(pods, page, Buffer.concat(pods.flatMap(event)));
}

/** The same pods in protobuf. */
export function protobufPods(count: number, gpuPercent: number): PodBytes {
  const all = templates(itemsOf(captured("pods.pb")));
  const pods = Array.from({ length: count }, (_, index) => podOf(all, index, gpuPercent));
  const listMeta = field(1, field(2, Buffer.from("1")));
  const page = (some: readonly Buffer[]): Buffer =>
    envelope("PodList", Buffer.concat([listMeta, ...some.map((pod) => field(2, pod))]));
  const event = (pod: Buffer): Buffer => {
    const type = field(1, Buffer.from("MODIFIED"));
    const frame = Buffer.concat([type, field(2, field(1, envelope("Pod", pod)))]);
    const length = Buffer.alloc(4);
    length.writeUInt32BE(frame.length);
    return Buffer.concat([length, frame]);
  };
  return podBytes(pods, page, Buffer.concat(pods.map(event)));
}

function itemsOf(list: Buffer): readonly Buffer[] {
  const cursor = protobufCursor(list);
  const opened = openEnvelope(cursor, list.length);
  if (!opened.ok) throw new Error(opened.message);
  const { end } = opened;
  const items: Buffer[] = [];
  while (cursor.position < end) {
    const tag = readTag(cursor, end);
    if (fieldOf(tag) === 2 && wireTypeOf(tag) === wireTypes.bytes) {
      const limit = readLimit(cursor, end);
      items.push(cursor.bytes.subarray(cursor.position, limit));
      cursor.position = limit;
    } else skipField(cursor, tag, end);
  }
  return items;
}

function envelope(kind: string, raw: Buffer): Buffer {
  const typeMeta = field(1, Buffer.concat([field(1, Buffer.from("v1")), field(2, Buffer.from(kind))]));
  return Buffer.concat([Buffer.from("k8s\0"), typeMeta, field(2, raw)]);
}

function field(number: number, bytes: Buffer): Buffer {
  const head = [number * 8 + wireTypes.bytes];
  let rest = bytes.length;
  for (; rest > 0x7f; rest = Math.floor(rest / 128)) head.push((rest % 128) + 128);
  return Buffer.concat([Buffer.from([...head, rest]), bytes]);
}
