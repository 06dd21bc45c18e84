import type { Expression } from "./expression.ts";

/** A field or item that is left out unless its condition holds. */
export interface Optional<Present> {
  readonly kind: "optional";
  readonly when: Expression<boolean>;
  readonly value: Present;
}

/** Items of a list that are known only when the chart is installed. */
export interface Spread<Item> {
  readonly kind: "spread";
  readonly items: Expression<readonly Item[]>;
}

/** A value of Kubernetes in which any part may be an expression, and what may be absent may be left out by a condition. */
export type Template<Value> = Expression<Unchanging<Value>> | Literal<Value>;

type Unchanging<Value> = Value extends readonly (infer Item)[] ? readonly Item[] : Value;

type Literal<Value> = Value extends readonly (infer Item)[]
  ? readonly (Template<Item> | Optional<Template<Item>> | Spread<Item>)[]
  : Value extends object
    ? { readonly [Key in keyof Value]: Field<Value, Key> }
    : Value;

type Field<Value, Key extends keyof Value> = undefined extends Value[Key]
  ? Template<NonNullable<Value[Key]>> | Optional<Template<NonNullable<Value[Key]>>>
  : Template<Value[Key]>;

/** A field or item that is there only where a condition holds. */
export function optional<const Present>(when: Expression<boolean>, value: Present): Optional<Present> {
  return { kind: "optional", when, value };
}

/** The items of a list that a user sets. */
export function spread<Item>(items: Expression<readonly Item[]>): Spread<Item> {
  return { kind: "spread", items };
}

/** Any part of a template, for those who walk through it. */
export type Part = Expression<unknown> | Optional<Part> | Spread<unknown> | Constant | PartList | PartMap;
export type Constant = string | number | boolean | null;
export type PartList = readonly Part[];
export interface PartMap {
  readonly [key: string]: Part;
}
