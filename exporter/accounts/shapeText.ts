import { z } from "zod";
import { bareRecord } from "../kernel/bareRecord.ts";
import type { PodShape } from "../model/podShape.ts";
import type { PodNeeds } from "../model/queues/podNeeds.ts";
import { amount, readText } from "./rememberedText.ts";

/** The longest text of a shape that is remembered: thousands of them must stay small. */
const maxTextLength = 8192;

const longerThanMax = "";

/** The texts of needs that were seen. Pods that ask for the same mostly share one object, which is converted to text once. */
const needsTexts = new WeakMap<PodNeeds, string>();

/** A shape as JSON text, which is the same for shapes that ask for the same; `null` where it is too long. */
export function shapeText({ gpus, needs }: PodShape): string | null {
  const known = needsTexts.get(needs) ?? textOf(needs);
  needsTexts.set(needs, known);
  return known === longerThanMax ? null : `[${JSON.stringify(gpus)},${known}]`;
}

function textOf({ requests, nodeSelector, nodeAffinity, tolerations }: PodNeeds): string {
  const text = JSON.stringify([
    sorted(requests),
    sorted(nodeSelector),
    nodeAffinity.map((term) => term.map(({ key, operator, values }) => [key, operator, values])),
    tolerations.map(({ key, operator, value, effect }) => [key, operator, value, effect]),
  ]);
  return text.length > maxTextLength ? longerThanMax : text;
}

function sorted<Value>(record: Readonly<Record<string, Value>>): readonly (readonly [string, Value])[] {
  return Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1));
}

const texts = z.string().array();
const shape = z.tuple([
  amount,
  z.tuple([
    z.tuple([z.string(), amount]).array(),
    z.tuple([z.string(), z.string()]).array(),
    z.tuple([z.string(), z.string(), texts]).array().array(),
    z.tuple([z.string(), z.enum(["Exists", "Equal"]), z.string(), z.string().nullable()]).array(),
  ]),
]);

/** Reads the shape that `shapeText` wrote; `null` for any other text. */
export function shapeIn(text: string): PodShape | null {
  const read = readText(shape, text);
  if (read === null) return null;
  const [gpus, [requests, nodeSelector, nodeAffinity, tolerations]] = read;
  return {
    gpus,
    needs: {
      requests: recordOf(requests),
      nodeSelector: recordOf(nodeSelector),
      nodeAffinity: nodeAffinity.map((term) => term.map(([key, operator, values]) => ({ key, operator, values }))),
      tolerations: tolerations.map(([key, operator, value, effect]) => ({ key, operator, value, effect })),
    },
  };
}

function recordOf<Value>(entries: readonly (readonly [string, Value])[]): Readonly<Record<string, Value>> {
  return Object.assign(bareRecord<Value>(), Object.fromEntries(entries));
}
