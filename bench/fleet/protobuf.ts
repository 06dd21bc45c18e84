/**
 * A message with the fields that the objects of the stand-in need: field name -> number and type. The numbers are those in the
 * generated.proto of k8s.io/api/core/v1 and k8s.io/apimachinery.
 */
export interface MessageType {
  readonly [field: string]: readonly [number, FieldType];
}

type FieldType =
  | "string"
  | "int"
  | "bool"
  /** A time as RFC 3339 text, encoded as `Time { seconds = 1 }`. */
  | "time"
  /** An object, encoded as its JSON text in `FieldsV1 { Raw = 1 }`. */
  | "json"
  /** A quantity, encoded as `Quantity { string = 1 }`. */
  | "quantity"
  | "strings"
  /** A map, encoded as `map<string, string>`. */
  | "texts"
  /** A map, encoded as `map<string, Quantity>`. */
  | "quantities"
  | { readonly message: MessageType }
  | { readonly messages: MessageType };

/** Encodes an object. It throws for a field that the type does not know, so that nothing is left out silently. */
export function encodeMessage(type: MessageType, object: object): Buffer {
  const parts: Buffer[] = [];
  for (const [name, value] of Object.entries(object)) {
    const field = type[name];
    if (field === undefined) throw new Error(`no field number for ${name}`);
    parts.push(...encodeField(field[0], field[1], value));
  }
  return Buffer.concat(parts);
}

/** Encodes a length-delimited field. */
export function delimited(number: number, bytes: Buffer): Buffer {
  return Buffer.concat([varint((number << 3) | 2), varint(bytes.length), bytes]);
}

export function text(number: number, value: unknown): Buffer {
  return delimited(number, Buffer.from(String(value), "utf8"));
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = BigInt.asUintN(64, BigInt(value));
  while (rest > 127n) {
    bytes.push(Number(rest & 127n) | 128);
    rest >>= 7n;
  }
  bytes.push(Number(rest));
  return Buffer.from(bytes);
}

function encodeField(number: number, type: FieldType, value: unknown): readonly Buffer[] {
  if (typeof type !== "string") {
    if ("message" in type) return [delimited(number, encodeMessage(type.message, asObject(value)))];
    return asArray(value).map((item) => delimited(number, encodeMessage(type.messages, asObject(item))));
  }
  switch (type) {
    case "string":
      return [text(number, value)];
    case "int":
    case "bool":
      return [varint(number << 3), varint(Number(value))];
    case "time":
      return [delimited(number, Buffer.concat([varint(8), varint(Date.parse(String(value)) / 1000)]))];
    case "json":
      return [delimited(number, text(1, JSON.stringify(value)))];
    case "quantity":
      return [delimited(number, text(1, value))];
    case "strings":
      return asArray(value).map((item) => text(number, item));
    case "texts":
      return Object.entries(asObject(value)).map(([k, v]) =>
        delimited(number, Buffer.concat([text(1, k), text(2, v)])),
      );
    case "quantities":
      return Object.entries(asObject(value)).map(([k, v]) =>
        delimited(number, Buffer.concat([text(1, k), delimited(2, text(1, v))])),
      );
  }
}

function asObject(value: unknown): object {
  if (typeof value === "object" && value !== null) return value;
  throw new Error("expected an object");
}

function asArray(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  throw new Error("expected a list");
}
