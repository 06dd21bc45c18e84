import type { Context } from "./context.ts";
import { isConstant, isExpression, isList, isOptional, isSpread } from "./part.ts";
import type { Part, PartMap } from "./template.ts";

/** What a template comes to in a context, as plain data. What Helm makes of its other form is the same. */
export function resolve(part: Part, context: Context): unknown {
  if (isConstant(part)) return part;
  if (isExpression(part)) return part.resolve(context);
  if (isList(part)) return part.flatMap((item) => resolveItem(item, context));
  if (isOptional(part)) return resolve(part.value, context);
  if (isSpread(part)) return part.items.resolve(context);
  return resolveMap(part, context);
}

function resolveItem(item: Part, context: Context): readonly unknown[] {
  if (isSpread(item)) return item.items.resolve(context);
  if (isOptional(item) && !item.when.resolve(context)) return [];
  return [resolve(item, context)];
}

function resolveMap(map: PartMap, context: Context): Readonly<Record<string, unknown>> {
  const fields = Object.entries(map).filter(([, field]) => !isOptional(field) || field.when.resolve(context));
  return Object.fromEntries(fields.map(([name, field]) => [name, resolve(field, context)]));
}
