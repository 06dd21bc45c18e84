import { bytesTag, varintTag, type WantedTags, wantedTags } from "../../../kernel/protobufFields.ts";

/** How a field reads: the type of its value in the JSON form of the object. */
export type FieldType =
  | "text"
  | "ownText"
  | "int32"
  | "int64"
  | "flag"
  | "quantity"
  | "time"
  | "message"
  | "inline"
  | "texts"
  | "messages"
  | "textMap"
  | "quantityMap"
  | "messageMap";

/** One wanted field of a message. */
export interface Field {
  readonly name: string;
  readonly type: FieldType;
  /** Whether the empty value means absent, as `omitempty` does in JSON where Go has no pointer. */
  readonly isEmptyAbsent: boolean;
  /** Of messages, and of maps to messages. */
  readonly shape: Shape;
  /** Keys of a map, or texts in field 1 of messages, that are read; others are passed over. */
  readonly keep: ((key: string) => boolean) | null;
}

/** The wanted fields of a message; all others are passed over. */
export interface Shape {
  /** By field number. */
  readonly fields: readonly (Field | undefined)[];
  /** A field that comes with another wire type counts as one that is not wanted. */
  readonly tags: WantedTags;
}

const numbers: ReadonlySet<FieldType> = new Set<FieldType>(["int32", "int64", "flag"]);

/** Lists the wanted fields by their numbers in `generated.proto`. */
export function shape(byNumber: Readonly<Record<number, Field>>): Shape {
  const fields: (Field | undefined)[] = [];
  const tags: number[] = [];
  for (const [key, field] of Object.entries(byNumber)) {
    const number = Number(key);
    fields[number] = field;
    tags.push(numbers.has(field.type) ? varintTag(number) : bytesTag(number));
  }
  // Without holes, so that looking up a number stays fast.
  return { fields: Array.from(fields), tags: wantedTags(...tags) };
}

const nothing: Shape = shape({});

function field(name: string, type: FieldType, more: Partial<Field> = {}): Field {
  return { name, type, isEmptyAbsent: false, shape: nothing, keep: null, ...more };
}

/** `string` in Go: always on the wire, also when empty. */
export const text = (name: string): Field => field(name, "text", { isEmptyAbsent: true });
/** The same, of a text that no other object has: it is not looked for among those seen lately. */
export const ownText = (name: string): Field => field(name, "ownText", { isEmptyAbsent: true });
/** `*string` in Go: an empty one is there. */
export const optionalText = (name: string): Field => field(name, "text");
export const int32 = (name: string): Field => field(name, "int32");
export const int64 = (name: string): Field => field(name, "int64");
/** A number with `omitempty` that is no pointer in Go. */
export const int64OrAbsent = (name: string): Field => field(name, "int64", { isEmptyAbsent: true });
export const flag = (name: string): Field => field(name, "flag");
export const quantity = (name: string): Field => field(name, "quantity");
export const time = (name: string): Field => field(name, "time");
export const texts = (name: string): Field => field(name, "texts");
export const message = (name: string, of: Shape): Field => field(name, "message", { shape: of });
/** A message whose fields are in the JSON form beside those of the one that it is in (`json:",inline"` in Go). */
export const inline = (of: Shape): Field => field("", "inline", { shape: of });
export const messages = (name: string, of: Shape, keep: Field["keep"] = null): Field =>
  field(name, "messages", { shape: of, keep });
export const textMap = (name: string, keep: Field["keep"] = null): Field => field(name, "textMap", { keep });
export const quantityMap = (name: string): Field => field(name, "quantityMap");
export const messageMap = (name: string, of: Shape, keep: Field["keep"] = null): Field =>
  field(name, "messageMap", { shape: of, keep });
