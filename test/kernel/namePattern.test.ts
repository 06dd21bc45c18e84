import { describe, expect, it } from "vitest";
import { matchesPattern } from "../../exporter/kernel/namePattern.ts";

describe("a name pattern", () => {
  it.each([
    ["vision", "vision", true],
    ["vision", "vision-a", false],
    ["*", "", true],
    ["team-*", "team-a", true],
    ["team-*", "steam-a", false],
    ["*-prod", "a-prod", true],
    ["a*b*c", "a-b-b-c", true],
    ["a*b*c", "a-c-b", false],
    ["ab*ba", "aba", false],
    ["a.c", "abc", false],
  ])("%j of %j: %s", (pattern, name, expected) => {
    expect(matchesPattern(pattern, name)).toBe(expected);
  });

  it("takes no longer for many stars", () => {
    expect(matchesPattern("*a".repeat(200), `${"a".repeat(5000)}b`)).toBe(false);
  });
});
