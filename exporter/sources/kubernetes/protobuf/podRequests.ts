import { type ProtobufCursor, readInt32 } from "../../../kernel/protobuf.ts";
import {
  bytesTag,
  leaveField,
  seekField,
  varintTag,
  type WantedTags,
  wantedTags,
} from "../../../kernel/protobufFields.ts";
import { gpuLikeResource, isSharedAmount } from "../../../model/gpuResource.ts";
import { parseQuantity } from "../quantity.ts";
import { usualAmount } from "./quantityBytes.ts";
import { sharedText } from "./readRecord.ts";

/** CPU in thousandths, memory in bytes and GPUs, at these places of every amount. */
const cpuAt = 0;
const memoryAt = 1;
const gpuAt = 2;
const kinds = 3;
const notCounted = -1;
const notSaid = -1;

/** What a pod asks for while it is read; the sum that `podResources` makes of the JSON form. */
export interface PodRequests {
  /** Restartable init containers so far, which run on beside the containers. */
  readonly sidecars: Float64Array;
  readonly containers: Float64Array;
  /** The most that an ordinary init container needs, with the restartable ones before it. */
  readonly peak: Float64Array;
  /** Of the container that is being read. */
  readonly limits: Float64Array;
  readonly requests: Float64Array;
  /** The one resource of the pod that looks like GPUs; empty: none. */
  gpuName: string;
  /** A quantity is odd, more than one resource looks like GPUs, parts of cards are asked for, or a port is the node's: only the whole pod tells. */
  isUnusual: boolean;
  readonly isGpu: (name: string) => boolean;
}

export function noRequests(configuredGpus: ReadonlySet<string>): PodRequests {
  return {
    sidecars: new Float64Array(kinds),
    containers: new Float64Array(kinds),
    peak: new Float64Array(kinds),
    limits: new Float64Array(kinds),
    requests: new Float64Array(kinds),
    gpuName: "",
    isUnusual: false,
    isGpu: createGpuNames(configuredGpus),
  };
}

/** Names of resources are few, and stand in every container. */
const maxNames = 1000;

function createGpuNames(configuredGpus: ReadonlySet<string>): (name: string) => boolean {
  const known = new Map<string, boolean>();
  return (name) => {
    const before = known.get(name);
    if (before !== undefined) return before;
    const isGpu = gpuLikeResource(name, configuredGpus);
    if (known.size < maxNames) known.set(name, isGpu);
    return isGpu;
  };
}

export function clearRequests(requests: PodRequests): void {
  const { sidecars, containers, peak } = requests;
  for (let kind = 0; kind < kinds; kind += 1) {
    sidecars[kind] = 0;
    containers[kind] = 0;
    peak[kind] = 0;
  }
  requests.gpuName = "";
  requests.isUnusual = false;
}

export const effectiveCpuMilli = (requests: PodRequests): number => effective(requests, cpuAt);
export const effectiveMemoryBytes = (requests: PodRequests): number => effective(requests, memoryAt);
export const effectiveGpus = (requests: PodRequests): number => effective(requests, gpuAt);

function effective({ sidecars, containers, peak }: PodRequests, kind: number): number {
  return Math.max(peak[kind] ?? 0, (sidecars[kind] ?? 0) + (containers[kind] ?? 0));
}

/** What of a container is read: its name, ports and probe only of those whose start is looked for. */
export interface FoundContainer {
  name: string;
  hasPort: boolean;
  hasReadinessProbe: boolean;
  /** A restartable init container. */
  isSidecar: boolean;
}

const nameTag = bytesTag(1);
const portsTag = bytesTag(6);
const resourcesTag = bytesTag(8);
const readinessProbeTag = bytesTag(11);
const restartPolicyTag = bytesTag(24);
export const unnamedContainer: WantedTags = wantedTags(portsTag, resourcesTag, restartPolicyTag);
export const namedContainer: WantedTags = wantedTags(
  nameTag,
  portsTag,
  resourcesTag,
  readinessProbeTag,
  restartPolicyTag,
);

/** Before one has been read. */
export const noContainer = (): FoundContainer => ({
  ...{ name: "", hasPort: false, hasReadinessProbe: false, isSidecar: false },
});

const always = Buffer.from("Always");

/** Reads one `Container` of core/v1, adds what it asks for, and says in `found` what it is. */
export function readContainer(
  cursor: ProtobufCursor,
  end: number,
  { isInit, wanted }: { readonly isInit: boolean; readonly wanted: WantedTags },
  requests: PodRequests,
  found: FoundContainer,
): void {
  for (let kind = 0; kind < kinds; kind += 1) {
    requests.limits[kind] = notSaid;
    requests.requests[kind] = notSaid;
  }
  found.name = "";
  found.hasPort = false;
  found.hasReadinessProbe = false;
  let isRestarted = false;
  for (let tag = seekField(cursor, end, wanted); tag !== 0; tag = seekField(cursor, end, wanted)) {
    const { limit } = cursor;
    if (tag === resourcesTag) readRequirements(cursor, limit, requests);
    else if (tag === restartPolicyTag) isRestarted = isText(cursor, limit, always);
    else if (tag === portsTag) {
      found.hasPort = true;
      if (takesHostPort(cursor, limit)) requests.isUnusual = true;
    } else if (tag === readinessProbeTag) found.hasReadinessProbe = true;
    else found.name = sharedText(cursor.bytes, cursor.position, limit);
    leaveField(cursor, limit);
  }
  found.isSidecar = isInit && isRestarted;
  addContainer(requests, isInit, isRestarted);
}

const hostPortTag = varintTag(2);
const portTags = wantedTags(hostPortTag);

/** Whether a `ContainerPort` of core/v1 is one of the node, too: few are, and only the whole pod tells which. */
function takesHostPort(cursor: ProtobufCursor, end: number): boolean {
  let port = 0;
  while (seekField(cursor, end, portTags) !== 0) port = readInt32(cursor, end);
  return port !== 0;
}

function addContainer(all: PodRequests, isInit: boolean, isSidecar: boolean): void {
  const { limits, requests, containers, sidecars, peak } = all;
  for (let kind = 0; kind < kinds; kind += 1) {
    const request = requests[kind] ?? notSaid;
    const amount = request === notSaid ? Math.max(0, limits[kind] ?? notSaid) : request;
    if (!isInit) containers[kind] = (containers[kind] ?? 0) + amount;
    else if (isSidecar) sidecars[kind] = (sidecars[kind] ?? 0) + amount;
    else peak[kind] = Math.max(peak[kind] ?? 0, (sidecars[kind] ?? 0) + amount);
  }
}

const limitsTag = bytesTag(1);
const requestsTag = bytesTag(2);
const amountMaps = wantedTags(limitsTag, requestsTag);

/** `ResourceRequirements` of core/v1: two maps of quantities. */
function readRequirements(cursor: ProtobufCursor, end: number, requests: PodRequests): void {
  for (let tag = seekField(cursor, end, amountMaps); tag !== 0; tag = seekField(cursor, end, amountMaps)) {
    const { limit } = cursor;
    readAmount(cursor, limit, tag === limitsTag ? requests.limits : requests.requests, requests);
    leaveField(cursor, limit);
  }
}

const keyTag = bytesTag(1);
const valueTag = bytesTag(2);
const entryTags = wantedTags(keyTag, valueTag);

/** One entry of such a map: the name in field 1, in field 2 a quantity. */
function readAmount(cursor: ProtobufCursor, end: number, into: Float64Array, requests: PodRequests): void {
  let kind = notCounted;
  let quantityAt = -1;
  let quantityEnd = -1;
  for (let tag = seekField(cursor, end, entryTags); tag !== 0; tag = seekField(cursor, end, entryTags)) {
    const { limit } = cursor;
    if (tag === keyTag) kind = kindOf(cursor, limit, requests);
    else {
      quantityAt = cursor.position;
      quantityEnd = limit;
    }
    leaveField(cursor, limit);
  }
  if (cursor.failed || kind === notCounted) return;
  // An entry without a value is the zero quantity.
  into[kind] = quantityAt === -1 ? 0 : readQuantity(cursor, quantityAt, quantityEnd, kind === cpuAt ? 3 : 0, requests);
}

const cpu = Buffer.from("cpu");
const memory = Buffer.from("memory");

function kindOf(cursor: ProtobufCursor, limit: number, requests: PodRequests): number {
  if (isText(cursor, limit, cpu)) return cpuAt;
  if (isText(cursor, limit, memory)) return memoryAt;
  const name = sharedText(cursor.bytes, cursor.position, limit);
  if (!requests.isGpu(name)) {
    // Few pods ask for parts of cards: only the whole pod tells how much.
    if (isSharedAmount(name)) requests.isUnusual = true;
    return notCounted;
  }
  if (requests.gpuName !== "" && requests.gpuName !== name) requests.isUnusual = true;
  requests.gpuName = name;
  return gpuAt;
}

const quantityTag = bytesTag(1);
const quantityTags = wantedTags(quantityTag);

/** `Quantity` of apimachinery: its text in field 1. */
function readQuantity(
  cursor: ProtobufCursor,
  start: number,
  end: number,
  decimals: 0 | 3,
  requests: PodRequests,
): number {
  cursor.position = start;
  let textAt = end;
  let textEnd = end;
  while (seekField(cursor, end, quantityTags) !== 0) {
    textAt = cursor.position;
    textEnd = cursor.limit;
    cursor.position = textEnd;
  }
  return cursor.failed ? 0 : amountOf(cursor.bytes, textAt, textEnd, decimals, requests);
}

/** Sums of such amounts are exact in any order. */
const maxAmount = 2 ** 44;

function amountOf(bytes: Buffer, start: number, end: number, decimals: 0 | 3, requests: PodRequests): number {
  const amount = usualAmount(bytes, start, end, decimals) ?? parseQuantity(sharedText(bytes, start, end), decimals);
  if (amount !== null && amount >= 0 && amount <= maxAmount) return amount;
  requests.isUnusual = true;
  return 0;
}

/** Whether the bytes from the cursor to `limit` are this text; the cursor stays. */
export function isText(cursor: ProtobufCursor, limit: number, text: Buffer): boolean {
  const start = cursor.position;
  if (limit - start !== text.length) return false;
  for (let index = 0; index < text.length; index += 1) {
    if (cursor.bytes[start + index] !== text[index]) return false;
  }
  return true;
}
