import { bytesTag, varintTag, type WantedTags, wantedTags } from "../../../kernel/protobufFields.ts";

/** How a field is read: the type of its value in the JSON form of the object. */
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
  /** The wanted fields of a message, or of the messages in a map. */
  readonly shape: Shape;
  /** Selects the keys of a map, or the texts in field 1 of messages, that are read; others are skipped. `null` selects all. */
  readonly keep: ((key: string) => boolean) | null;
}

/** The wanted fields of a message; all others are skipped. */
export interface Shape {
  /** The fields by their number. */
  readonly fields: readonly (Field | undefined)[];
  /** The tags of the wanted fields. A field with another wire type is treated as one that is not wanted. */
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
  // The array has no holes, so that looking up a number stays fast.
  return { fields: Array.from(fields), tags: wantedTags(...tags) };
}

const nothing: Shape = shape({});

function field(name: string, type: FieldType, more: Partial<Field> = {}): Field {
  return { name, type, isEmptyAbsent: false, shape: nothing, keep: null, ...more };
}

/** A `string` in Go, which is always written, even when it is empty. */
export const text = (name: string): Field => field(name, "text", { isEmptyAbsent: true });
/** Like `text`, for a text that no other object has: it is not looked up among those read recently. */
export const ownText = (name: string): Field => field(name, "ownText", { isEmptyAbsent: true });
/** A `*string` in Go, of which an empty one counts as present. */
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
/** A message whose fields are in the JSON form beside those of the message that contains it (`json:",inline"` in Go). */
export const inline = (of: Shape): Field => field("", "inline", { shape: of });
export const messages = (name: string, of: Shape, keep: Field["keep"] = null): Field =>
  field(name, "messages", { shape: of, keep });
export const textMap = (name: string, keep: Field["keep"] = null): Field => field(name, "textMap", { keep });
export const quantityMap = (name: string): Field => field(name, "quantityMap");
export const messageMap = (name: string, of: Shape, keep: Field["keep"] = null): Field =>
  field(name, "messageMap", { shape: of, keep });
