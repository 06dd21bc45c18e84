import { describe, expect, test } from "vitest";
import type { Problem } from "../../exporter/model/problem.ts";
import { layOut, plainTerminal } from "../../exporter/publish/terminal/layout.ts";
import { problemLines } from "../../exporter/publish/terminal/overview.ts";

/** A node whose GPUs are counted in two ways. */
const conflict = (subject: string | null, more: Partial<Problem> = {}): Problem => ({
  source: "join",
  code: "gpu-count-conflict",
  severity: "warning",
  subject,
  message: `node ${subject}: 9 GPUs are named, the API counts 8`,
  nextStep: "Check the exporter.",
  ...more,
});
const lines = (problems: readonly Problem[]): readonly string[] =>
  layOut(problemLines(problems), plainTerminal).split("\n");
const nodes = Array.from({ length: 190 }, (_, i) => `gpu-${String(i + 1).padStart(3, "0")}`);
const skipped = conflict("a.json", { source: "inspect", code: "file-skipped", message: "a.json is left out" });

describe("problems in a terminal", () => {
  test("of one kind are one line, with their number and three names", () => {
    expect(lines([...nodes.map((name) => conflict(name)), skipped])).toEqual([
      "problems: 191",
      "  warning  190 like this (gpu-001, gpu-002, gpu-003, ...): node gpu-001: 9 GPUs are named, the API",
      "           counts 8",
      "           -> Check the exporter.",
      "  warning  a.json is left out",
      "           -> Check the exporter.",
      "  --output json lists all of them",
    ]);
  });

  test("that are only three are listed one by one: their words may differ", () => {
    const found = lines(nodes.slice(0, 3).map((name) => conflict(name)));
    expect(found.filter((line) => line.startsWith("  warning  node gpu-"))).toHaveLength(3);
    expect(found[0]).toBe("problems: 3");
    expect(found.join("\n")).not.toContain("--output json");
  });

  test("are grouped neither over severities nor over sources", () => {
    const four = nodes.slice(0, 4).map((name) => conflict(name));
    const errors = four.map((problem) => ({ ...problem, severity: "error" as const }));
    const others = four.map((problem) => ({ ...problem, source: "dcgm" }));
    const heads = lines([...four, ...errors, ...others]).filter((line) => line.includes("4 like this"));
    expect(heads.map((line) => line.trim().split(" ")[0])).toEqual(["error", "warning", "warning"]);
  });

  test("about the same thing name it once, and those about nothing name nothing", () => {
    const same = Array.from({ length: 5 }, () => conflict("gpu-001"));
    expect(lines(same)[1]).toContain("5 like this (gpu-001): ");
    const nobody = Array.from({ length: 5 }, () => conflict(null, { message: "no answer" }));
    expect(lines(nobody)[1]).toBe("  warning  5 like this: no answer");
  });

  test("beyond eight lines are counted, each of them", () => {
    const kinds = Array.from({ length: 10 }, (_, kind) =>
      nodes.slice(0, 4).map((name) => conflict(name, { code: `kind-${kind}`, message: `fault ${kind}` })),
    ).flat();
    const found = lines(kinds);
    expect(found[0]).toBe("problems: 40");
    expect(found.at(-1)).toBe("  and 8 more: --output json lists all of them");
  });

  test("cannot write control characters by their names", () => {
    const hostile = nodes.slice(0, 4).map((name) => conflict(`${name}\u001b[31m`, { message: "m" }));
    expect(lines(hostile).join("\n")).not.toContain("\u001b");
  });
});
