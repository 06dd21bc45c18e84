import { globSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { goals } from "../../bench/goals.ts";

const root = new URL("../../", import.meta.url);

describe("files that exist for speed or memory", () => {
  it("name a goal of docs/performance.md that there is", () => {
    const ids = new Set(goals.map(({ id }) => id));
    const named = globSync("exporter/**/*.ts", { cwd: root }).flatMap((file) => {
      const text = readFileSync(new URL(file, root), "utf8");
      return [...text.matchAll(/^\/\/ Needed for the goal `([^`]*)`/gm)].map(([, id = ""]) => ({ file, id }));
    });
    expect(named.length).toBeGreaterThan(10);
    expect(named.filter(({ id }) => !ids.has(id))).toEqual([]);
  });
});
