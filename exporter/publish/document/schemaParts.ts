import { z } from "zod";

/** Parts that the schemas of several records share. */
export const gpus = z.number().min(0).describe("Physical GPUs.");
export const ratio = z.number().min(0).nullable();
export const instant = z.iso.datetime().describe("UTC.");
export const seconds = z.number().min(0);

/** What a schema describes, as nobody changes it: records share what they are made of, and copy nothing. */
export type Read<Value> = Value extends readonly (infer Item)[]
  ? readonly Read<Item>[]
  : Value extends object
    ? { readonly [Key in keyof Value]: Read<Value[Key]> }
    : Value;
