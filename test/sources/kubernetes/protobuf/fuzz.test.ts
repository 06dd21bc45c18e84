import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decodeNode } from "../../../../exporter/sources/kubernetes/decodeCluster.ts";
import { decodeResourceSlice } from "../../../../exporter/sources/kubernetes/decodeDevices.ts";
import type { Decoded } from "../../../../exporter/sources/kubernetes/decoded.ts";
import { decodePod } from "../../../../exporter/sources/kubernetes/decodePod.ts";
import { uidOf } from "../../../../exporter/sources/kubernetes/jsonWire.ts";
import { protobufFormat, type ReadObject } from "../../../../exporter/sources/kubernetes/protobuf/protobufWire.ts";
import { readRecord } from "../../../../exporter/sources/kubernetes/protobuf/readRecord.ts";
import type { Shape } from "../../../../exporter/sources/kubernetes/protobuf/shape.ts";
import {
  nodeShape,
  podRestShape,
  podRowShape,
  resourceSliceShape,
} from "../../../../exporter/sources/kubernetes/protobuf/shapes.ts";
import type { BodyFormat } from "../../../../exporter/sources/kubernetes/wire.ts";
import { captured, contentTypes, formats, projection } from "../wireSubjects.ts";

/** A few seconds in CI; a long run by hand says how long. */
const seconds = Number(process.env.FAIRLEAD_FUZZ_SECONDS ?? 0);
const runsPerSeed = 400;

interface Mutation {
  readonly kind: "set" | "flip" | "cut" | "insert" | "remove" | "double" | "splice";
  /** Where, as a share of the length. */
  readonly at: number;
  readonly length: number;
  readonly byte: number;
}

const mutation: fc.Arbitrary<Mutation> = fc.record({
  kind: fc.constantFrom("set", "set", "set", "flip", "flip", "cut", "insert", "remove", "double", "splice"),
  at: fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }),
  length: fc.nat({ max: 40 }),
  byte: fc.oneof(fc.nat({ max: 255 }), fc.constantFrom(0, 0x0a, 0x12, 0x7f, 0x80, 0xff)),
});

const other = captured("nodes", "protobuf");

function mutate(bytes: Buffer, { kind, at, length, byte }: Mutation): Buffer {
  const from = Math.floor(at * bytes.length);
  const [head, part, tail] = [
    bytes.subarray(0, from),
    bytes.subarray(from, from + length),
    bytes.subarray(from + length),
  ];
  switch (kind) {
    case "set":
    case "flip": {
      const copy = Buffer.from(bytes);
      if (from < copy.length) copy[from] = kind === "set" ? byte : (copy[from] ?? 0) ^ (1 << (byte & 7));
      return copy;
    }
    case "cut":
      return head;
    case "insert":
      return Buffer.concat([head, Buffer.alloc(length, byte), part, tail]);
    case "remove":
      return Buffer.concat([head, tail]);
    case "double":
      return Buffer.concat([head, part, part, tail]);
    case "splice":
      return Buffer.concat([head, other.subarray(byte, byte + length), tail]);
  }
}

interface Subject {
  readonly name: string;
  readonly kind: string;
  readonly apiVersion: string;
  /** All that is read of it, one after the other. */
  readonly shapes: readonly Shape[];
  readonly decode: (value: unknown) => Decoded<unknown>;
  readonly format: BodyFormat<unknown>;
}

const pods: Subject = {
  name: "pods",
  kind: "Pod",
  apiVersion: "v1",
  shapes: [podRowShape, podRestShape],
  decode: (value) => decodePod(value, projection),
  format: formats.pods.protobuf.formatOf(contentTypes.protobuf),
};

const subjects: readonly Subject[] = [
  pods,
  {
    name: "nodes",
    kind: "Node",
    apiVersion: "v1",
    shapes: [nodeShape],
    decode: decodeNode,
    format: formats.nodes.protobuf.formatOf(contentTypes.protobuf),
  },
  {
    name: "resourceSlices",
    kind: "ResourceSlice",
    apiVersion: "resource.k8s.io/v1",
    shapes: [resourceSliceShape],
    decode: decodeResourceSlice,
    format: formats.resourceSlices.protobuf.formatOf(contentTypes.protobuf),
  },
];

/** Reads all of an object at once, whatever asks for it, and checks it against its twin in JSON. */
function checkedFormat({ kind, apiVersion, shapes, decode }: Subject): BodyFormat<unknown> {
  const read: ReadObject<unknown> = (cursor, end) => {
    const start = cursor.position;
    const record = {};
    for (const shape of shapes) {
      if (!cursor.failed) cursor.position = start;
      readRecord(cursor, end, shape, record);
    }
    const decoded = decode(record);
    if (cursor.failed) return { uid: "", decoded };
    const twin = JSON.stringify(record);
    expect(twin.length).toBeLessThan(64 * (end - start) + 1000);
    if (decoded.ok) expect(decoded).toEqual(decode(JSON.parse(twin)));
    return { uid: uidOf(record), decoded };
  };
  return protobufFormat({ kind, readers: { [apiVersion]: read } });
}

function checkPage(subject: Subject, bytes: Buffer): void {
  const whole = checkedFormat(subject).page(bytes);
  const page = subject.format.page(bytes);
  // What is passed over of most pods may be broken inside: then there is a list all the same.
  if (whole.ok) expect(page).toEqual(whole);
  else if (page.ok) expect(subject.name).toBe("pods");
}

function checkEvents(subject: Subject, bytes: Buffer, chunkBytes: number): void {
  const reader = subject.format.createReader(100_000);
  const whole = checkedFormat(subject);
  for (let at = 0; at < bytes.length; at += chunkBytes) {
    const frames = reader.push(bytes.subarray(at, at + chunkBytes));
    if (frames === null) return;
    for (const frame of frames) {
      const [event, expected] = [subject.format.event(frame), whole.event(frame)];
      if (expected.type !== "malformed") expect(event).toEqual(expected);
    }
  }
}

/** Runs a property once in CI, or with new seeds until the time is over; says how often it ran. */
function hold<Values extends [unknown, ...unknown[]]>(name: string, property: fc.IProperty<Values>): void {
  const until = performance.now() + (seconds * 1000) / (subjects.length + 2);
  let seed = 1;
  do {
    fc.assert(property, { seed, numRuns: runsPerSeed });
    seed += 1;
  } while (performance.now() < until);
  if (seconds > 0) process.stderr.write(`${name}: ${(seed - 1) * runsPerSeed} inputs\n`);
}

const timeout = seconds * 1000 + 30_000;
const mutations = fc.array(mutation, { minLength: 1, maxLength: 6 });

describe("mutated bytes", () => {
  it.each(subjects)("of a list of $name give what their twin in JSON gives, or no list", { timeout }, (subject) => {
    const real = captured(subject.name, "protobuf");
    hold(
      `lists of ${subject.name}`,
      fc.property(mutations, (all) => checkPage(subject, all.reduce(mutate, real))),
    );
  });

  it("of a watch give what their twin in JSON gives, or no event", { timeout }, () => {
    const real = captured("watch", "protobuf");
    hold(
      "events",
      fc.property(mutations, fc.integer({ min: 1, max: 5000 }), (all, chunkBytes) =>
        checkEvents(pods, all.reduce(mutate, real), chunkBytes),
      ),
    );
  });
});

describe("any bytes", () => {
  it("are a list, an event or malformed, and never more than they are", { timeout }, () => {
    const anyBytes = fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes));
    hold(
      "any bytes",
      fc.property(anyBytes, fc.boolean(), (bytes, isWrapped) => {
        const body = isWrapped ? Buffer.concat([listHead, bytes]) : bytes;
        checkPage(pods, body);
        checkEvents(pods, body, 100);
      }),
    );
  });
});

/** The envelope of an empty list, so that what follows is looked at as fields. */
const listHead = captured("empty", "protobuf");
