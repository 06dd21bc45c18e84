import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { stringify } from "yaml";
import { z } from "zod";
import { defaultAlerts } from "../../alerts/thresholds.ts";
import type { DashboardDefinition } from "../../dashboards/dashboard.ts";
import type { PanelJson } from "../../dashboards/grafana/types.ts";
import { hasPromtool, recordingsFor, withRules } from "../alerts/promtool.ts";
import { health, inputSeries, type WorldSeries } from "../alerts/world.ts";
import { filledIn, made, panelsOf } from "./everyDashboard.ts";

/** What one panel shows of given series. */
export interface PanelCase {
  /** The panel, by its title. */
  readonly panel: string;
  /** Why the numbers are what they are. */
  readonly why: string;
  /** Series beside those of a Fairlead that works; `#` in a value is replaced by the number of steps. */
  readonly world: readonly WorldSeries[];
  /** What the reader chose; all, where nothing is said. */
  readonly variables?: Readonly<Record<string, string>>;
  /** Time range, for `$__range`. */
  readonly range?: string;
  /** Between samples, and between evaluations of rules. */
  readonly step?: "1m" | "1h";
  /** The moment that is looked at, in steps. */
  readonly at?: number;
  /**
   * Legend -> number. In tables and bar charts `Column [label, label]`, with the values of the labels that are shown, in their
   * order. Nothing else may be shown.
   */
  readonly shows: Readonly<Record<string, number>>;
}

const seconds = { "1m": 60, "1h": 3600 } as const;

/** A test for each case: the recording rules of the alerts and the queries of the panel, evaluated by Prometheus' own code. */
export function testPanelNumbers(definition: DashboardDefinition, cases: readonly PanelCase[]): void {
  describe.skipIf(!hasPromtool())(`numbers of ${definition.name}`, () => {
    const panels = panelsOf(made(definition).json);
    const shown: (ReadonlyMap<string, number> | null)[] = cases.map(() => null);

    beforeAll(() => {
      for (const step of ["1m", "1h"] as const) {
        const own = cases.flatMap((one, index) => ((one.step ?? "1m") === step ? [{ one, index }] : []));
        const asked = own.map(({ one }) => ({ one, panel: panelOf(panels, one) }));
        const answers = evaluate(step, asked);
        for (const [place, { index }] of own.entries()) shown[index] = answers[place] ?? null;
      }
    });

    test.each(cases.map((one, index) => [one.panel, one.why, index] as const))("%s: %s", (_, __, index) => {
      const numbers = shown[index];
      const expected = cases[index]?.shows ?? {};
      expect([...(numbers?.keys() ?? [])].sort()).toEqual(Object.keys(expected).sort());
      for (const [legend, number] of Object.entries(expected)) {
        const found = numbers?.get(legend) ?? Number.NaN;
        expect(Math.abs(found - number), `${legend}: ${found}, expected ${number}`).toBeLessThan(
          1e-6 * Math.max(1, Math.abs(number)),
        );
      }
    });
  });
}

interface Asked {
  readonly one: PanelCase;
  readonly panel: PanelJson;
}

function panelOf(panels: readonly PanelJson[], { panel }: PanelCase): PanelJson {
  const found = panels.find(({ title }) => title === panel);
  if (found === undefined) throw new Error(`no panel ${panel}`);
  return found;
}

/** What each panel shows, legend -> number. Promtool says what it got where it is not what was expected, so nothing is. */
function evaluate(step: "1m" | "1h", asked: readonly Asked[]): readonly ReadonlyMap<string, number>[] {
  if (asked.length === 0) return [];
  const queries = asked.map(({ one, panel }) => (panel.targets ?? []).map(({ expr }) => filledIn(expr, one)));
  const groups = recordingsFor(queries.flat(), defaultAlerts);
  const tests = asked.map(({ one }, index) => {
    const at = one.at ?? 15;
    return {
      interval: step,
      input_series: inputSeries([...health(seconds[step]), ...one.world], at + 2),
      promql_expr_test: (queries[index] ?? []).map((expr) => ({
        expr,
        eval_time: `${(at * seconds[step]) / 60}m`,
        exp_samples: [{ labels: "never{}", value: 0 }],
      })),
    };
  });
  const said = withRules(groups, (folder, rules) => {
    const file = path.join(folder, "panels.yaml");
    const group_eval_order = groups.map(({ name }) => name);
    writeFileSync(file, stringify({ rule_files: [rules], evaluation_interval: step, group_eval_order, tests }));
    const { stdout, stderr } = spawnSync("promtool", ["test", "rules", file], { encoding: "utf8", maxBuffer: 2 ** 26 });
    return `${stdout}${stderr}`;
  });
  const got = [...said.matchAll(/^ +got: (.*)$/gm)].map(([, text]) => text ?? "");
  if (got.length !== queries.flat().length) throw new Error(`promtool says: ${said.slice(0, 4000)}`);
  let next = 0;
  return asked.map(({ panel }) => {
    const numbers = new Map<string, number>();
    for (const target of panel.targets ?? []) {
      for (const { labels, value } of samplesIn(got[next++] ?? "")) {
        const legend = legendOf(panel, target.legendFormat ?? "", labels);
        if (numbers.has(legend)) throw new Error(`${panel.title} shows ${legend} twice`);
        numbers.set(legend, value);
      }
    }
    return keptRows(panel, numbers);
  });
}

const filterSchema = z.object({ filters: z.array(z.object({ fieldName: z.string() })) });
const sortSchema = z.object({ sort: z.tuple([z.object({ field: z.string() })]) });
const limitSchema = z.object({ limitField: z.number() });

/** What Grafana's transformations leave of the rows of a table or bar chart. */
function keptRows(
  { transformations = [] }: PanelJson,
  numbers: ReadonlyMap<string, number>,
): ReadonlyMap<string, number> {
  const rowOf = (legend: string): string => legend.slice(legend.indexOf(" ["));
  const optionsOf = (id: string): unknown => transformations.find((one) => one.id === id)?.options;
  const filter = filterSchema.safeParse(optionsOf("filterByValue")).data;
  const by = sortSchema.safeParse(optionsOf("sortBy")).data?.sort[0].field;
  const limit = limitSchema.safeParse(optionsOf("limit")).data?.limitField ?? Number.POSITIVE_INFINITY;
  const at = (row: string, column: string): number => numbers.get(`${column}${row}`) ?? Number.NEGATIVE_INFINITY;
  const hasNumber = (row: string, column: string): boolean => (numbers.get(`${column}${row}`) ?? 0) !== 0;
  const rows = [...new Set([...numbers.keys()].map(rowOf))]
    .filter((row) => filter === undefined || filter.filters.some(({ fieldName }) => hasNumber(row, fieldName)))
    .toSorted((a, b) => (by === undefined ? 0 : at(b, by) - at(a, by) || 0))
    .slice(0, limit);
  return new Map([...numbers].filter(([legend]) => rows.includes(rowOf(legend))));
}

interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

const sample = /\{((?:\w+="(?:[^"\\]|\\.)*"(?:, )?)*)\} (\S+?)(?=, \{|$)/g;

function samplesIn(got: string): readonly Sample[] {
  return [...got.matchAll(sample)].map(([, labels = "", value = ""]) => ({
    labels: Object.fromEntries(
      [...labels.matchAll(/(\w+)=("(?:[^"\\]|\\.)*")/g)].map(([, name, text]) => [
        name ?? "",
        `${JSON.parse(text ?? '""')}`,
      ]),
    ),
    value: value.endsWith("Inf") ? Number(`${value}inity`) : Number(value),
  }));
}

/** What a series is called in a legend, or a number in a table. */
function legendOf({ transformations }: PanelJson, format: string, labels: Sample["labels"]): string {
  const columns = transformations?.find(({ id }) => id === "organize")?.options.renameByName;
  if (columns === undefined || columns === null)
    return format.replaceAll(/\{\{(\w+)\}\}/g, (_, name: string) => labels[name] ?? "");
  const shown = Object.keys(columns).filter((name) => !name.startsWith("Value"));
  return `${format} [${shown.map((name) => labels[name] ?? "").join(", ")}]`;
}
