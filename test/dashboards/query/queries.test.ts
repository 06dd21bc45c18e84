import { describe, expect, test } from "vitest";
import { readingLabels } from "../../../alerts/rules/readings.ts";
import { shows } from "../../../dashboards/panel/shown.ts";
import { table } from "../../../dashboards/panel/table.ts";
import { units } from "../../../dashboards/panel/units.ts";
import { queriesFor } from "../../../dashboards/query/queries.ts";
import { aggregate } from "../../../exporter/catalogue/promql.ts";

const query = queriesFor(["cluster", "team", "pool"]);
const byTeam = query.sum("fairlead_team_gpus", ["cluster", "team"]);

// Whoever changes a name in the catalogue learns from the compiler which panels read it: each line below must not compile.
describe("what does not compile", () => {
  test("a metric, label or value that is not there", () => {
    // @ts-expect-error no such metric
    expect(() => query.sum("fairlead_team_gpu", ["cluster"])).toThrow("no rule records fairlead_team_gpu");
    // @ts-expect-error no rule records the metric by itself
    expect(() => query.sum("fairlead_gpu_seconds_total", ["cluster"])).toThrow("no rule records");
    // @ts-expect-error the metric has no such label
    query.sum("fairlead_team_gpus", ["cluster", "queue"]);
    // @ts-expect-error the label has no such value
    query.sum("fairlead_team_gpus", ["cluster"], { state: "sleeping" });
    // @ts-expect-error no such recorded series
    expect(() => query.recorded("cluster:fairlead_gone:sum")).toThrow();
    // @ts-expect-error the recorded series has no such label
    query.recorded("cluster:fairlead_allocated_gpus:sum", { team: "ads" });
  });

  test("a label that was added up", () => {
    // @ts-expect-error the pool is no longer there
    aggregate("sum", byTeam, ["cluster", "pool"]);
    // @ts-expect-error nor in a legend
    expect(shows(byTeam, "{{team}} {{pool}}").legend).toBe("{{team}} {{pool}}");
    expect(shows(byTeam, "{{team}} ({{cluster}})").legend).toBe("{{team}} ({{cluster}})");
  });

  test("a table whose columns are not the labels of its queries", () => {
    const values = [{ title: "Allocated", query: byTeam, unit: units.gpus }] as const;
    const texts = { title: "t", meaning: "m", size: [12, 8], sortBy: "Allocated", empty: "none" } as const;
    // @ts-expect-error the label cluster is missing
    table({ ...texts, labels: { team: "Team" }, values });
    // @ts-expect-error there is no pool
    table({ ...texts, labels: { team: "Team", cluster: null, pool: "Pool" }, values });
    expect(table({ ...texts, labels: { team: "Team", cluster: null }, values }).type).toBe("table");
  });
});

describe("queries narrow themselves", () => {
  test("by each variable whose label they have; an own matcher goes before", () => {
    expect(query.recorded("cluster_pool:fairlead_allocated_gpus:sum").text).toBe(
      'cluster_pool:fairlead_allocated_gpus:sum{cluster=~"$cluster", pool=~"$pool"}',
    );
    expect(query.sum("fairlead_team_gpus", ["team"], { team: "ads", state: "active" }).text).toBe(
      'sum by (team) (cluster_team_pool_state:fairlead_team_gpus:sum{cluster=~"$cluster", pool=~"$pool", team="ads", state="active"})',
    );
    expect(query.without("pool").recorded("cluster_pool:fairlead_allocated_gpus:sum").text).toBe(
      'cluster_pool:fairlead_allocated_gpus:sum{cluster=~"$cluster"}',
    );
  });

  test("a metric is read from one recorded series only", () => {
    const metrics = Object.keys(readingLabels).map((name) => name.split(":")[1]);
    expect(new Set(metrics).size).toBe(metrics.length);
  });
});
