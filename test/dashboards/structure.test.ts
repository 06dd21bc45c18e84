import { describe, expect, test } from "vitest";
import { alertList } from "../../alerts/alertList.ts";
import { dashboardNames, dashboardUid } from "../../alerts/dashboardUid.ts";
import { datasource } from "../../dashboards/variableModels.ts";
import { everyDashboard, everyPanel, isRow, linksOf, panelsOf } from "./everyDashboard.ts";

const byName = everyDashboard.map((made) => [made.definition.name, made] as const);
const numbers = everyPanel.filter(([, { type }]) => type !== "text");

describe.each(byName)("dashboard %s", (name, { definition, json }) => {
  test("has its fixed uid, the tag and the bar of links", () => {
    expect(json.uid).toBe(dashboardUid(name));
    expect(json.uid.length).toBeLessThanOrEqual(40);
    expect(json.tags).toEqual(["fairlead"]);
    expect(json.links).toMatchObject([{ type: "dashboards", tags: ["fairlead"], includeVars: true, keepTime: true }]);
    expect(json.title).toMatch(/^Fairlead: /);
    expect(json.description).toMatch(/\?$/);
  });

  test("is not too large for a ConfigMap", () => {
    expect(JSON.stringify(json, null, 2).length).toBeLessThan(900 * 1024);
  });

  test("ids are whole numbers from 1 on, each once", () => {
    const ids = [...json.panels, ...json.panels.flatMap((panel) => (isRow(panel) ? panel.panels : []))].map(
      ({ id }) => id,
    );
    expect(ids.every((id) => Number.isInteger(id) && id >= 1)).toBe(true);
    expect(new Set(ids).size).toBe(ids.length);
  });

  test("no panel covers another or leaves the grid", () => {
    // A closed row's panels come where they will be when it alone is opened.
    const open = json.panels.map(({ gridPos }) => gridPos);
    const closed = json.panels.flatMap((panel) => (isRow(panel) ? [panel.panels.map(({ gridPos }) => gridPos)] : []));
    for (const places of [open, ...closed]) {
      const taken = new Set<string>();
      for (const place of places) {
        if (place === undefined) throw new Error("a panel has no place");
        const { x, y, w, h } = place;
        expect(x + w).toBeLessThanOrEqual(24);
        for (let cell = 0; cell < w * h; cell += 1) {
          const at = `${x + (cell % w)} ${y + Math.floor(cell / w)}`;
          expect(taken.has(at), `${at} is taken twice`).toBe(false);
          taken.add(at);
        }
      }
    }
  });

  test("queries have names and the data source that was chosen", () => {
    for (const { title, targets, datasource: own } of panelsOf(json)) {
      expect(own, title).toEqual(datasource);
      const names = (targets ?? []).map(({ refId }) => refId);
      expect(names, title).toEqual(["A", "B", "C", "D", "E", "F", "G", "H", "I", "J", "K", "L"].slice(0, names.length));
      for (const target of targets ?? []) expect(target.datasource, title).toEqual(datasource);
    }
    for (const annotation of json.annotations.list) expect(annotation.datasource).toEqual(datasource);
  });

  test("the reader chooses data source and cluster first; all includes series without the label", () => {
    const list = json.templating.list ?? [];
    expect(list.map((variable) => variable.name)).toEqual(["datasource", "cluster", ...definition.variables]);
    for (const variable of list.slice(1)) {
      expect(variable).toMatchObject({ multi: true, includeAll: true, allValue: ".*", refresh: 2, datasource });
    }
    expect(JSON.stringify(json)).not.toContain("__inputs");
  });

  test("has 12 to 24 panels, at most 12 of them outside closed rows", () => {
    const open = json.panels.filter((panel) => !isRow(panel));
    expect(open.length).toBeLessThanOrEqual(12);
    expect(panelsOf(json).length).toBeGreaterThanOrEqual(12);
    expect(panelsOf(json).length).toBeLessThanOrEqual(24);
  });

  test("a line has at most 4 numbers", () => {
    const lines = new Map<number, number>();
    for (const { type, gridPos } of panelsOf(json)) {
      if (type === "stat" && gridPos !== undefined) lines.set(gridPos.y, (lines.get(gridPos.y) ?? 0) + 1);
    }
    expect(Math.max(0, ...lines.values())).toBeLessThanOrEqual(4);
  });

  test("no title is cut off in a window of 1080 pixels", () => {
    // A column is 45 pixels there and a letter about 8; the head's marks and edges take 84.
    const cut = panelsOf(json).filter(({ title = "", gridPos }) => title.length > (45 * (gridPos?.w ?? 24) - 84) / 8);
    expect(cut.map(({ title }) => title)).toEqual([]);
  });

  test("no title is there twice", () => {
    const titles = panelsOf(json).map(({ title }) => title);
    expect(new Set(titles).size).toBe(titles.length);
  });

  test("takes from an alert that leads to it what the alert is about", () => {
    const known = new Set(["currency", ...(json.templating.list ?? []).map((variable) => variable.name)]);
    // A lost node pool is a line of a table there, and chooses nothing.
    if (name === "fleet") known.add("node_pool");
    const asked = Object.values(alertList).flatMap(({ dashboard, labels }): readonly string[] =>
      dashboard === name ? labels : [],
    );
    expect(asked.filter((label) => !known.has(label))).toEqual([]);
  });
});

test("the first page fits a screen of 1080 pixels before its first closed row", () => {
  const fleet = everyDashboard.find(({ definition }) => definition.name === "fleet")?.json;
  const bottom = (fleet?.panels ?? []).flatMap((panel) =>
    isRow(panel) ? [] : [(panel.gridPos?.y ?? 0) + (panel.gridPos?.h ?? 0)],
  );
  // A line of the grid is 38 pixels; Grafana's head and the variables take about 140, the browser about 90.
  expect(Math.max(...bottom) * 38 + 230).toBeLessThanOrEqual(1080);
});

describe.each(numbers)("%s", (_, panel) => {
  const defaults = panel.fieldConfig?.defaults ?? {};
  const overrides = panel.fieldConfig?.overrides ?? [];

  test("says what it shows, in a short title that is no question, and whole sentences", () => {
    expect(panel.title ?? "").toMatch(/^[A-Z].{2,44}$/);
    expect(panel.title ?? "").not.toMatch(/\?|^(Who|Whose|What|Which|Where|When|Why|How|Is|Are|Do|Does|Did|Will)\b/);
    expect(panel.description ?? "").toMatch(/^[A-Z].{30,}[.]$/);
    expect(panel.description ?? "").not.toMatch(/undefined|NaN|\[object/);
  });

  test("calls quantiles p50 and p95 in titles, columns and legends", () => {
    const texts = [panel.title ?? "", ...(panel.targets ?? []).map(({ legendFormat = "" }) => legendFormat)];
    expect(texts.filter((text) => /median|percentile|of 100|\bhalf\b/i.test(text))).toEqual([]);
  });

  test("bars are sorted", () => {
    if (panel.type !== "bargauge") return;
    for (const { expr } of panel.targets ?? []) expect(expr).toMatch(/^sort(_desc)?\(/);
  });

  test("says which unit, and what no value means", () => {
    expect(defaults.unit ?? "").not.toBe("");
    expect(defaults.unit).not.toBe("h");
    expect(defaults.noValue ?? "").toMatch(/[^0\s]/);
    if (defaults.unit === "percentunit") expect(defaults.min).toBe(0);
  });

  test("says in words what its colours mean", () => {
    const levels = [
      ...(defaults.thresholds === undefined ? [] : [defaults.thresholds]),
      ...overrides.flatMap(({ properties }) =>
        properties.flatMap(({ id, value }) => (id === "thresholds" ? [value] : [])),
      ),
    ];
    const judged = levels.some((of) => JSON.stringify(of).match(/"(orange|red)"/) !== null);
    if (judged) expect(panel.description).toMatch(/amber|red/i);
  });

  test("leads on", () => {
    const links = linksOf(panel);
    expect(links.length).toBeGreaterThan(0);
    for (const { title, url = "" } of links) {
      expect(title).toMatch(/^[A-Z]/);
      expect(url).toMatch(/^(https?:\/\/|\/d\/fairlead-)/);
      const uid = /^\/d\/([^?]+)/.exec(url)?.[1];
      if (uid !== undefined) {
        expect(dashboardNames.map(dashboardUid)).toContain(uid);
        expect(url).toContain(`\${datasource:queryparam}`);
        expect(url).toContain(`\${__url_time_range}`);
      }
    }
  });

  test("names its series itself", () => {
    for (const { legendFormat } of panel.targets ?? []) {
      expect(legendFormat ?? "").not.toBe("");
      expect(legendFormat).not.toBe("__auto");
    }
    expect((panel.targets ?? []).length).toBeGreaterThan(0);
  });

  test("links only to what its rows still have", () => {
    const organize = panel.transformations?.find(({ id }) => id === "organize");
    const gone = Object.keys(organize?.options.excludeByName ?? {});
    for (const { url } of linksOf(panel)) {
      for (const [, field] of url.matchAll(/__data\.fields\.(\w+)/g)) {
        expect(gone).not.toContain(field);
        for (const { expr } of panel.targets ?? []) expect(expr).toMatch(new RegExp(`^\\w+ by \\([^)]*\\b${field}\\b`));
      }
      for (const [, label] of url.matchAll(/__field\.labels\.(\w+)/g)) {
        for (const { expr } of panel.targets ?? []) expect(expr).toContain(label);
      }
    }
  });

  test("is readable: a table has at most 8 columns", () => {
    if (panel.type !== "table") return;
    const organize = panel.transformations?.find(({ id }) => id === "organize");
    const titles = new Set(Object.values(organize?.options.renameByName ?? {}));
    expect(titles.size).toBeLessThanOrEqual(8);
    expect(titles.size).toBeGreaterThanOrEqual(2);
  });
});
