import { describe, expect, it } from "vitest";
import { boundedText } from "../../exporter/advice/boundedText.ts";
import { moveMoment, wants } from "./kinds/moveMoment.ts";
import { adviceOf } from "./wholeAdvice.ts";

const hostile = `\u001b[31m\n\u202e"'\`$(reboot)<script>${"x".repeat(10_000)}`;

describe("text of advice", () => {
  it("is one line, with nothing that steers a terminal, and has an end", () => {
    expect(boundedText("a\n\u001b[31mb\u202e", 50)).toBe("a??[31mb?");
    expect(boundedText("x".repeat(51), 50)).toBe(`${"x".repeat(49)}…`);
    expect(boundedText("x".repeat(50), 50)).toBe("x".repeat(50));
    expect(boundedText("\n".repeat(1e6), 50)).toHaveLength(50);
  });

  it("is no longer than that whatever work and teams are called", () => {
    const advice = adviceOf(
      moveMoment({
        nodes: ["n1", "n2", "n3"].map((name) => ({ name, gpus: 8 })),
        pods: [
          { name: "x", node: "n1", gpus: 7 },
          { name: "a", node: "n2", gpus: 1, team: hostile },
          { name: "b", node: "n2", gpus: 1 },
          { name: "y", node: "n2", gpus: 4 },
          { name: "z", node: "n3", gpus: 7 },
        ],
        waiting: [wants("train", 1, 4, { name: hostile }), wants("never", 3, 8, { name: `${hostile}2` })],
        parts: { podDisruptionBudgets: [] },
      }),
    );
    const [only] = advice.recommendations;
    expect(only?.title).toMatch(/^move ads\/[ab] and ads\/[ab] \(2 GPUs\) from n2: then vision\/\?\[31m\?\?/);
    expect(only?.title.length).toBeLessThanOrEqual(300);
    expect(only?.beneficiary.name.length).toBeLessThanOrEqual(500);
    const { fromTeam: _, cost: _cost, ...shown } = only ?? { fromTeam: "", cost: null };
    expect(JSON.stringify(shown).length).toBeLessThan(20_000);
    expect(JSON.stringify(shown)).not.toMatch(/\\u001b|\\n\\u202e/);
    expect(JSON.stringify(advice.withheld).length).toBeLessThan(10_000);
  });
});
