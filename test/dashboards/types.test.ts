import { describe, expect, test } from "vitest";
import { shows } from "../../dashboards/panel/shown.ts";
import { table } from "../../dashboards/panel/table.ts";
import { units } from "../../dashboards/panel/units.ts";
import { queriesFor } from "../../dashboards/query/queries.ts";
import { aggregate } from "../../exporter/catalogue/promql.ts";

const query = queriesFor(["cluster", "team", "pool"]);
const byTeam = query.sum("fairlead_team_gpus", ["cluster", "team"]);

// Whoever changes a name in the catalogue learns from the compiler which panels read it: each line below must not compile.
describe("what does not compile", () => {
  test("a metric, label or value that is not there", () => {
    // @ts-expect-error no such metric
    expect(() => query.sum("fairlead_team_gpu", ["cluster"])).not.toThrow();
    // @ts-expect-error the metric has no such label
    query.sum("fairlead_team_gpus", ["cluster", "queue"]);
    // @ts-expect-error the label has no such value
    query.sum("fairlead_team_gpus", ["cluster"], { state: "sleeping" });
    // @ts-expect-error no such recorded series
    expect(() => query.recorded("cluster:fairlead_gone:sum")).toThrow();
    // @ts-expect-error the recorded series has no such label
    query.recorded("cluster:fairlead_allocated_gpus:sum", { team: "ads" });
    // @ts-expect-error not a counter
    query.increase("fairlead_team_gpus", "$__range", ["cluster"]);
    // @ts-expect-error no such window
    query.increase("fairlead_cycles_total", "$__rage", ["cluster"]);
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
    const texts = { title: "t", meaning: "m", size: [12, 8], sortBy: "Allocated" } as const;
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
    expect(query.metric("fairlead_team_gpus", { team: "ads", state: "active" }).text).toBe(
      'fairlead_team_gpus{cluster=~"$cluster", pool=~"$pool", team="ads", state="active"}',
    );
    expect(query.without("pool").recorded("cluster_pool:fairlead_allocated_gpus:sum").text).toBe(
      'cluster_pool:fairlead_allocated_gpus:sum{cluster=~"$cluster"}',
    );
  });

  test("so do the buckets of a histogram", () => {
    const queues = queriesFor(["cluster", "queue"]);
    expect(queues.increase("fairlead_queue_wait_seconds_bucket", "$__range", ["cluster", "le"]).text).toContain(
      "[$__range]",
    );
    expect(queues.metric("fairlead_queue_wait_seconds_bucket").text).toBe(
      'fairlead_queue_wait_seconds_bucket{cluster=~"$cluster", queue=~"$queue"}',
    );
  });
});
