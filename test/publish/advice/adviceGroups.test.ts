import { expect, test } from "vitest";
import { adviceGroups, groupOf } from "../../../exporter/publish/advice/adviceGroups.ts";
import { severalAdvice } from "../severalAdvice.ts";

test("open recommendations are apart by what they ask, and closed ones are in no group", () => {
  const groups = adviceGroups(severalAdvice.recommendations);
  expect(groups.map(({ heading, all }) => [heading, all.map(({ kind }) => kind)])).toEqual([
    ["Do now", ["reclaim", "defragment", "scale_in"]],
    ["Ask the owner", ["release_idle"]],
    ["Watch", ["fix_source"]],
  ]);
});

test("what has no step is nothing to do by hand", () => {
  expect(groupOf({ act: "do", steps: [] })).toBe("watch");
  expect(groupOf({ act: "ask", steps: [] })).toBe("ask");
});
