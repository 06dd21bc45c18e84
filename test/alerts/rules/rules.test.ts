import { beforeAll, describe, expect, test } from "vitest";
import { alertNames } from "../../../alerts/alertList.ts";
import { defaultAlerts } from "../../../alerts/thresholds.ts";
import { hasPromtool, rulesOf, runPromtool } from "../promtool.ts";
import { type AlertTable, testsOf } from "./alertTable.ts";
import { capacityTables } from "./capacityTables.ts";
import { costTables } from "./costTables.ts";
import { exporterTables } from "./exporterTables.ts";
import { fairnessTables } from "./fairnessTables.ts";
import { pageTables } from "./pageTables.ts";
import { queueTables } from "./queueTables.ts";
import { replicaTables } from "./replicaTables.ts";
import { sickTables } from "./sickTables.ts";
import { wasteTables } from "./wasteTables.ts";

const tables: readonly AlertTable[] = [
  ...fairnessTables,
  ...queueTables,
  ...wasteTables,
  ...costTables,
  ...capacityTables,
  ...sickTables,
  ...exporterTables,
  ...pageTables,
  ...replicaTables,
];

describe.skipIf(!hasPromtool())("promtool", () => {
  const failures = new Map<string, string>();

  beforeAll(() => {
    for (const table of tables) {
      const said = runPromtool(rulesOf(table.alert, defaultAlerts), table.step, testsOf(table));
      for (const [name, text] of said) failures.set(name, text);
    }
  });

  test("ran", () => {
    expect(failures.get("promtool")).toBeUndefined();
  });

  test.each(tables.map(({ alert }) => alert))("%s fires, and not too early, with these labels and texts", (alert) => {
    expect(failures.get(`${alert} fires`) ?? "").toBe("");
  });

  test.each(tables.map(({ alert }) => alert))(
    "%s does not fire on clusters about which nothing else is known",
    (alert) => {
      const said = failures.get(`${alert} is quiet`) ?? "";
      expect(said).not.toMatch(/cluster="(east|west)"/);
    },
  );

  test.each(tables.flatMap(({ alert, quiet }) => Object.keys(quiet).map((name) => [alert, name] as const)))(
    "%s does not fire: %s",
    (alert, name) => {
      expect(failures.get(`${alert} is quiet`) ?? "").not.toContain(`: ${name}"`);
    },
  );

  test("every alert has a table", () => {
    expect(tables.map(({ alert }) => alert).sort()).toEqual([...alertNames].sort());
  });

  test("finds what is wrong: an alert that does not come, one that comes too early, a text that differs", () => {
    const [right] = fairnessTables;
    if (right === undefined) throw new Error("no table");
    const wrong: readonly (readonly [AlertTable, string])[] = [
      [{ ...right, arrivals: right.arrivals.map((one) => ({ ...one, description: "Something else." })) }, "fires"],
      [{ ...right, quietAt: right.firesAt }, "fires"],
      [{ ...right, world: [] }, "fires"],
      [{ ...right, quiet: { "it is not": right.world } }, "is quiet"],
    ];
    for (const [table, name] of wrong) {
      const said = runPromtool(rulesOf(table.alert, defaultAlerts), table.step, testsOf(table));
      expect([...said.keys()]).toEqual([`${table.alert} ${name}`]);
    }
  });
});
