import { isDeepStrictEqual } from "node:util";
import { expect } from "vitest";

/** The same as `expect(actual).toEqual(expected)`, which takes many times as long for large values that are equal. */
export function expectEqual(actual: unknown, expected: unknown): void {
  if (!isDeepStrictEqual(actual, expected)) expect(actual).toEqual(expected);
}
