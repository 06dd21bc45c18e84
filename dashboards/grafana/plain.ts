/**
 * A type of Grafana's SDK as plain data: its enums as the texts and numbers that represent them in JSON, without methods, and
 * readonly. Only the types of the SDK are used; nothing of it is loaded when the program runs.
 */
export type Plain<T> = 0 extends 1 & T
  ? unknown
  : T extends string
    ? PlainText<T>
    : T extends number
      ? PlainNumber<T>
      : T extends boolean | null | undefined
        ? T
        : T extends readonly (infer One)[]
          ? readonly Plain<One>[]
          : { readonly [Key in keyof T as T[Key] extends () => void ? never : Key]: Plain<T[Key]> };

type PlainText<T extends string> = string extends T ? string : `${T}`;

type PlainNumber<T extends number> = number extends T
  ? number
  : `${T}` extends `${infer Value extends number}`
    ? Value
    : never;
