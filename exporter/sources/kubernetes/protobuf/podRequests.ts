import {
  fieldOf,
  type ProtobufCursor,
  readLimit,
  readTag,
  skipField,
  wireTypeOf,
  wireTypes,
} from "../../../kernel/protobuf.ts";
import { parseQuantity } from "../quantity.ts";
import { sharedText } from "./readRecord.ts";

/** CPU and memory of a pod while it is read; the sum that `podResources` makes of the JSON form. */
export interface PodRequests {
  /** Restartable init containers so far, which run on beside the containers. */
  sidecarCpuMilli: number;
  sidecarMemoryBytes: number;
  containerCpuMilli: number;
  containerMemoryBytes: number;
  /** The most that an ordinary init container needs, with the restartable ones before it. */
  initCpuMilli: number;
  initMemoryBytes: number;
  /** Of the container that is being read; -1: not said. */
  cpuLimit: number;
  cpuRequest: number;
  memoryLimit: number;
  memoryRequest: number;
  /** Something other than CPU, memory and local disk is asked for, or a quantity is odd: only the whole pod tells. */
  isUnusual: boolean;
}

export function noRequests(): PodRequests {
  return {
    sidecarCpuMilli: 0,
    sidecarMemoryBytes: 0,
    containerCpuMilli: 0,
    containerMemoryBytes: 0,
    initCpuMilli: 0,
    initMemoryBytes: 0,
    cpuLimit: -1,
    cpuRequest: -1,
    memoryLimit: -1,
    memoryRequest: -1,
    isUnusual: false,
  };
}

export function clearRequests(requests: PodRequests): void {
  requests.sidecarCpuMilli = 0;
  requests.sidecarMemoryBytes = 0;
  requests.containerCpuMilli = 0;
  requests.containerMemoryBytes = 0;
  requests.initCpuMilli = 0;
  requests.initMemoryBytes = 0;
  requests.isUnusual = false;
}

export function effectiveCpuMilli(requests: PodRequests): number {
  return Math.max(requests.initCpuMilli, requests.sidecarCpuMilli + requests.containerCpuMilli);
}

export function effectiveMemoryBytes(requests: PodRequests): number {
  return Math.max(requests.initMemoryBytes, requests.sidecarMemoryBytes + requests.containerMemoryBytes);
}

const resourcesField = 8;
const restartPolicyField = 24;
const always = Buffer.from("Always");

/** Reads one `Container` of core/v1 and adds what it asks for. */
export function readContainer(cursor: ProtobufCursor, end: number, isInit: boolean, requests: PodRequests): void {
  requests.cpuLimit = -1;
  requests.cpuRequest = -1;
  requests.memoryLimit = -1;
  requests.memoryRequest = -1;
  let isSidecar = false;
  while (cursor.position < end) {
    const tag = readTag(cursor, end);
    const field = fieldOf(tag);
    if (wireTypeOf(tag) !== wireTypes.bytes) skipField(cursor, tag, end);
    else {
      const limit = readLimit(cursor, end);
      if (field === resourcesField) readRequirements(cursor, limit, requests);
      else if (field === restartPolicyField) isSidecar = isText(cursor, limit, always);
      if (!cursor.failed) cursor.position = limit;
    }
  }
  addContainer(requests, isInit, isSidecar);
}

function addContainer(requests: PodRequests, isInit: boolean, isSidecar: boolean): void {
  const { cpuRequest, cpuLimit, memoryRequest, memoryLimit } = requests;
  const cpuMilli = cpuRequest >= 0 ? cpuRequest : Math.max(0, cpuLimit);
  const memoryBytes = memoryRequest >= 0 ? memoryRequest : Math.max(0, memoryLimit);
  if (!isInit) {
    requests.containerCpuMilli += cpuMilli;
    requests.containerMemoryBytes += memoryBytes;
  } else if (isSidecar) {
    requests.sidecarCpuMilli += cpuMilli;
    requests.sidecarMemoryBytes += memoryBytes;
  } else {
    requests.initCpuMilli = Math.max(requests.initCpuMilli, requests.sidecarCpuMilli + cpuMilli);
    requests.initMemoryBytes = Math.max(requests.initMemoryBytes, requests.sidecarMemoryBytes + memoryBytes);
  }
}

const limitsField = 1;
const requestsField = 2;

/** `ResourceRequirements` of core/v1: two maps of quantities. */
function readRequirements(cursor: ProtobufCursor, end: number, requests: PodRequests): void {
  while (cursor.position < end) {
    const tag = readTag(cursor, end);
    const field = fieldOf(tag);
    const isMap = (field === limitsField || field === requestsField) && wireTypeOf(tag) === wireTypes.bytes;
    if (isMap) readAmount(cursor, readLimit(cursor, end), field === limitsField, requests);
    else skipField(cursor, tag, end);
  }
}

const cpu = Buffer.from("cpu");
const memory = Buffer.from("memory");
const localDisk = Buffer.from("ephemeral-storage");

type ResourceName = "cpu" | "memory" | "local disk" | "other";

/** One entry of such a map: the name in field 1, in field 2 a quantity. */
function readAmount(cursor: ProtobufCursor, end: number, isLimit: boolean, requests: PodRequests): void {
  let name: ResourceName = "other";
  let quantityAt = -1;
  let quantityEnd = -1;
  while (cursor.position < end) {
    const tag = readTag(cursor, end);
    if (wireTypeOf(tag) !== wireTypes.bytes) {
      skipField(cursor, tag, end);
      continue;
    }
    const limit = readLimit(cursor, end);
    if (fieldOf(tag) === 1) name = resourceName(cursor, limit);
    else if (fieldOf(tag) === 2) {
      quantityAt = cursor.position;
      quantityEnd = limit;
    }
    if (!cursor.failed) cursor.position = limit;
  }
  if (cursor.failed) return;
  if (name === "other") requests.isUnusual = true;
  else if (name !== "local disk") {
    // An entry without a value is the zero quantity.
    const decimals = name === "cpu" ? 3 : 0;
    const amount = quantityAt === -1 ? 0 : readQuantity(cursor, quantityAt, quantityEnd, decimals, requests);
    setAmount(requests, name, isLimit, amount);
    if (!cursor.failed) cursor.position = end;
  }
}

function setAmount(requests: PodRequests, name: "cpu" | "memory", isLimit: boolean, amount: number): void {
  if (name === "cpu") {
    if (isLimit) requests.cpuLimit = amount;
    else requests.cpuRequest = amount;
  } else if (isLimit) requests.memoryLimit = amount;
  else requests.memoryRequest = amount;
}

function resourceName(cursor: ProtobufCursor, limit: number): ResourceName {
  if (isText(cursor, limit, cpu)) return "cpu";
  if (isText(cursor, limit, memory)) return "memory";
  return isText(cursor, limit, localDisk) ? "local disk" : "other";
}

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
  while (cursor.position < end) {
    const tag = readTag(cursor, end);
    if (fieldOf(tag) === 1 && wireTypeOf(tag) === wireTypes.bytes) {
      textEnd = readLimit(cursor, end);
      textAt = cursor.position;
      cursor.position = textEnd;
    } else skipField(cursor, tag, end);
  }
  return cursor.failed ? 0 : amountOf(cursor.bytes, textAt, textEnd, decimals, requests);
}

/** Sums of such amounts are exact in any order. */
const maxAmount = 2 ** 44;

function amountOf(bytes: Buffer, start: number, end: number, decimals: 0 | 3, requests: PodRequests): number {
  const amount = parseQuantity(sharedText(bytes, start, end), decimals);
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
