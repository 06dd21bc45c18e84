import { randomBytes } from "node:crypto";
import type { Config } from "../../../exporter/config/schema.ts";
import { isRecord } from "../../../exporter/kernel/parseJson.ts";
import { decodeOwner } from "../../../exporter/sources/kubernetes/decodeOwner.ts";
import { decodePod } from "../../../exporter/sources/kubernetes/decodePod.ts";
import { recordDecoders } from "../../../exporter/sources/kubernetes/kindDecoders.ts";
import { watchedKindOf } from "../../inspect/dumpKinds.ts";
import type { DumpFile, DumpFiles } from "../../inspect/readFiles.ts";
import { type DumpObject, readObjects } from "../../inspect/readObjects.ts";
import { labelsInRules } from "../../labelsInRules.ts";
import { createPseudonyms } from "./pseudonyms.ts";
import { isInstant } from "./publicText.ts";
import { type Redaction, redactObject } from "./redactObject.ts";
import { redactPage } from "./redactPage.ts";
import { watchReads } from "./watchReads.ts";

/**
 * A dump without the names of its cluster. Of each object, only what `inspect` reads is kept. A name is replaced by the same
 * pseudonym everywhere, so that what belonged together still does. The salt is not kept, so that the names cannot be recovered.
 */
export function redactDump({ files, problems }: DumpFiles, config: Config, salt: Buffer = randomBytes(32)): DumpFiles {
  const objectsOf = new Map(files.filter(({ kind }) => kind === "objects").map((file) => [file, readObjects(file)]));
  const names = new Set([...objectsOf.values()].flatMap(({ objects }) => objects.flatMap(namesIn)));
  const redaction: Redaction = { pseudonyms: createPseudonyms(salt), names };
  const read = createReader(config);
  const redacted = files.map((file): DumpFile => {
    const found = objectsOf.get(file);
    if (found === undefined) return redactedPage(file, redaction);
    const items = found.objects.map((object) => {
      const { watched, seenParts } = watchReads(object.value);
      read({ ...object, value: isRecord(watched) ? watched : {} });
      return redactObject(seenParts(isIdentity), redaction);
    });
    const [listed] = found.listed;
    const list = { apiVersion: listed?.apiVersion ?? "v1", kind: `${listed?.kind ?? ""}List`, metadata: {}, items };
    return { ...file, bytes: Buffer.from(JSON.stringify(list, null, 1)) };
  });
  return { files: redacted, problems };
}

function redactedPage(file: DumpFile, { pseudonyms }: Redaction): DumpFile {
  const stem = pseudonyms.ofName(file.stem);
  const page = redactPage(file.bytes.toString("utf8"), pseudonyms);
  return { ...file, path: `${stem}.prom`, stem, bytes: Buffer.from(page) };
}

/** Whether every reader needs this leaf: it identifies the object, or is a time that shows when the dump was taken. */
function isIdentity(leaf: unknown, path: readonly string[]): boolean {
  const where = path.join(".");
  if (["apiVersion", "kind", "metadata.name", "metadata.namespace", "metadata.uid"].includes(where)) return true;
  return isInstant(leaf) && (path[0] === "status" || path[0] === "metadata");
}

/** Creates a function that reads an object as `readDump` does, and then everything in the result. */
function createReader(config: Config): (object: DumpObject) => void {
  const gpuResources = new Set(Object.keys(config.gpu.resources));
  const decoders = recordDecoders({ gpuResources, kaiNodePoolLabel: config.queues.kai.nodePoolLabel });
  const pods = { gpuResources, exporters: config.dcgm.discovery, readLabels: new Set(labelsInRules(config)) };
  return ({ kind, apiVersion, value }) => {
    const watched = watchedKindOf(kind, apiVersion);
    const decoded =
      watched === "pods" ? decodePod(value, pods) : watched === null ? decodeOwner(value) : decoders[watched](value);
    // This also reads the parts that a record keeps as they are.
    JSON.stringify(decoded);
  };
}

/** Names by which a text may refer to an object: its own name, its namespace, its node, and the values of its labels. */
function namesIn({ value }: DumpObject): readonly string[] {
  const { metadata, spec } = value;
  const own = isRecord(metadata) ? [metadata.name, metadata.namespace] : [];
  const labels = isRecord(metadata) && isRecord(metadata.labels) ? Object.values(metadata.labels) : [];
  const node = isRecord(spec) ? [spec.nodeName] : [];
  return [...own, ...labels, ...node].flatMap((name) => (typeof name === "string" && name.length > 1 ? [name] : []));
}
