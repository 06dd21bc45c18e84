import { isDeepStrictEqual } from "node:util";
import { expect } from "vitest";
import { plainData } from "../plainData.ts";

/** The same as `expect(actual).toEqual(expected)`, which takes many times as long for large values that are equal. */
export function expectEqual(actual: unknown, expected: unknown): void {
  const [one, other] = [plainData(actual), plainData(expected)];
  if (!isDeepStrictEqual(one, other)) expect(one).toEqual(other);
}
