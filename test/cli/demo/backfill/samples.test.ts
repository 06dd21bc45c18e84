import { describe, expect, it } from "vitest";
import { alertSeries, secondsOf } from "../../../../cli/demo/backfill/alertSeries.ts";
import { rulePasses } from "../../../../cli/demo/backfill/playedPrometheus.ts";
import { sampleLine, timedSamples } from "../../../../cli/demo/backfill/timedSamples.ts";

const target = { instance: "fairlead:9400", job: "fairlead" };

describe("a metrics page as samples with times", () => {
  it("adds the target's labels and the time to each sample, and leaves comments out", () => {
    const page = '# HELP a b\n# TYPE a gauge\na{pool="A100"} 3\nb 0.5\n\n';
    expect(timedSamples(page, target, 1000)).toBe(
      'a{pool="A100",instance="fairlead:9400",job="fairlead"} 3 1000\nb{instance="fairlead:9400",job="fairlead"} 0.5 1000\n',
    );
  });

  it("keeps labels that the page has itself, as honor_labels does", () => {
    expect(timedSamples('a{job="own",other_job="x"} 1\n', target, 7)).toBe(
      'a{job="own",other_job="x",instance="fairlead:9400"} 1 7\n',
    );
    expect(timedSamples('a{job="own",instance="i"} 1\n', target, 7)).toBe('a{job="own",instance="i"} 1 7\n');
  });

  it("is not misled by braces, spaces and quotes in the value of a label", () => {
    expect(timedSamples('a{title="take {2} of \\"x\\" } now"} 4e-7\n', { job: "j" }, 7)).toBe(
      'a{title="take {2} of \\"x\\" } now",job="j"} 4e-7 7\n',
    );
  });

  it("escapes what it writes itself", () => {
    expect(sampleLine("a", { b: 'x"\\\n' }, 1, 2)).toBe('a{b="x\\"\\\\\\n"} 1 2\n');
  });
});

describe("rules in passes", () => {
  const rule = (record: string, expr: string) => ({ record, expr });

  it("evaluates a rule after all whose series it reads", () => {
    const rules = [
      rule("a:x:sum", "sum(x)"),
      rule("b:y:sum", "sum(y) / a:x:sum"),
      rule("c:z:max", "max(z)"),
      rule("d:w:max", 'max(b:y:sum{k="v"}) + c:z:max'),
    ];
    expect(rulePasses(rules).map((pass) => pass.map(({ record }) => record))).toEqual([
      ["a:x:sum", "c:z:max"],
      ["b:y:sum"],
      ["d:w:max"],
    ]);
  });

  it("takes a name for itself, not for the beginning of another", () => {
    const rules = [rule("a:x:sum", "sum(x)"), rule("b", "sum(a:x:sum1h)")];
    expect(rulePasses(rules)).toHaveLength(1);
  });
});

describe("the series of an alert", () => {
  const alert = { alert: "A", for: "20m", labels: { severity: "page" } };
  const linesOf = (at: readonly number[]) => alertSeries(alert, [{ labels: { team: "t" }, at }], 600).split("\n");

  it("is pending until it has lasted, then firing", () => {
    const states = linesOf([600, 1200, 1800, 2400]).flatMap(
      (line) => /alertstate="(\w+)"} 1 (\d+)/.exec(line)?.slice(1) ?? [],
    );
    expect(states).toEqual(["pending", "600", "pending", "1200", "firing", "1800", "firing", "2400"]);
  });

  it("begins again after a step without it, and says since when", () => {
    const since = linesOf([600, 1200, 3000]).filter((line) => line.startsWith("ALERTS_FOR_STATE"));
    expect(since).toEqual([
      'ALERTS_FOR_STATE{team="t",severity="page",alertname="A"} 600 600',
      'ALERTS_FOR_STATE{team="t",severity="page",alertname="A"} 600 1200',
      'ALERTS_FOR_STATE{team="t",severity="page",alertname="A"} 3000 3000',
    ]);
  });

  it("reads spans as Prometheus writes them", () => {
    expect(["0m", "30s", "1h30m", "1d", undefined].map(secondsOf)).toEqual([0, 30, 5400, 86_400, 0]);
  });
});
