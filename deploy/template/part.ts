import type { Expression } from "./expression.ts";
import type { Constant, Optional, Part, PartList, Spread } from "./template.ts";

export function isConstant(part: Part): part is Constant {
  return typeof part !== "object" || part === null;
}

export function isList(part: Part): part is PartList {
  return Array.isArray(part);
}

export function isExpression(part: Part): part is Expression<unknown> {
  return !isConstant(part) && "pipeline" in part && "resolve" in part;
}

export function isOptional(part: Part): part is Optional<Part> {
  return !isConstant(part) && "kind" in part && part.kind === "optional" && "when" in part;
}

export function isSpread(part: Part): part is Spread<unknown> {
  return !isConstant(part) && "kind" in part && part.kind === "spread" && "items" in part;
}
