import { expect, it } from "vitest";
import { createProblemLog } from "../../cli/problemLog.ts";
import type { Problem } from "../../exporter/model/problem.ts";

const problem = (subject: string, message = "it does not answer"): Problem => ({
  source: "dcgm",
  code: "target-timeout",
  severity: "warning",
  subject,
  message,
  nextStep: "look",
});

function recorded() {
  const lines: string[] = [];
  const write = (level: string) => (fields: object, message: string) =>
    void lines.push(`${level} ${JSON.stringify(fields)} ${message}`);
  return { lines, report: createProblemLog({ warn: write("warn"), info: write("info") }) };
}

it("writes one line when a problem begins and one when it is over, whatever its text says meanwhile", () => {
  const { lines, report } = recorded();
  report([problem("a", "last answer 30 s ago")]);
  report([problem("a", "last answer 60 s ago"), problem("b")]);
  report([problem("b")]);
  report([]);
  expect(lines).toEqual([
    'warn {"source":"dcgm","problem":"target-timeout a","nextStep":"look"} last answer 30 s ago',
    'warn {"source":"dcgm","problem":"target-timeout b","nextStep":"look"} it does not answer',
    'info {"problem":"target-timeout a"} over',
    'info {"problem":"target-timeout b"} over',
  ]);
});

it("keeps text from the cluster on its line, without anything that a terminal executes", () => {
  const { lines, report } = recorded();
  report([problem("a", "host \u001b[31mred\nlevel=error forged")]);
  expect(lines[0]).toMatch(/ host \\u001b\[31mred\\nlevel=error forged$/);
});

it("does not drown the log when a whole cluster fails at once", () => {
  const { lines, report } = recorded();
  report(Array.from({ length: 1000 }, (_, i) => problem(`node-${i}`)));
  expect(lines).toHaveLength(51);
  expect(lines.at(-1)).toContain('{"problems":950}');
  report([]);
  expect(lines).toHaveLength(102);
});
