import type { AlertName } from "../../../alerts/alertList.ts";
import type { AlertMoment, ExpectedAlert, RuleTest } from "../promtool.ts";
import { health, inputSeries, type WorldSeries } from "../world.ts";

/** One alert as it must arrive. */
export interface Arrival {
  /** Labels beside severity, area and action. */
  readonly labels: Readonly<Record<string, string>>;
  readonly description: string;
  /** Workloads or nodes by their names; absent: its labels name what it is about. */
  readonly subject?: string;
  /** `null`: nothing is recommended. */
  readonly advice: { readonly text: string; readonly id: string; readonly saving: string } | null;
  /** What follows `https://grafana.example.org/d/`. */
  readonly dashboard: string;
}

/** What one alert does, by the numbers. */
export interface AlertTable {
  readonly alert: AlertName;
  readonly severity: string;
  readonly area: string;
  readonly action: string;
  readonly summary: string;
  /** Between samples and evaluations. */
  readonly step: "1m" | "5m" | "1h";
  /** When it fires, the world being so from the begin; in steps. */
  readonly firesAt: number;
  /** When it does not fire yet; `null` where nothing distinguishes the two. */
  readonly quietAt: number | null;
  readonly world: readonly WorldSeries[];
  /** Worlds in which it never fires: each just below a threshold or floor, or with something missing. */
  readonly quiet: Readonly<Record<string, readonly WorldSeries[]>>;
  readonly arrivals: readonly Arrival[];
}

/** What an alert says if no series names the workloads or nodes that it is about. */
export function unnamed(description: string, list: string): Pick<Arrival, "description" | "subject"> {
  return {
    description: `${description} https://fairlead.example.org/api/v1/${list} names what it is about.`,
    subject: "No name is known.",
  };
}

const minutes = { "1m": 1, "5m": 5, "1h": 60 } as const;

/** The tests of a table: it fires so, not earlier; and not in the quiet worlds, which have clusters of their own. */
export function testsOf(table: AlertTable): readonly RuleTest[] {
  const { alert, step, firesAt, quietAt, world, quiet, arrivals } = table;
  const moment = (steps: number, exp_alerts: readonly ExpectedAlert[]): AlertMoment => ({
    eval_time: `${steps * minutes[step]}m`,
    alertname: alert,
    exp_alerts,
  });
  const test = (name: string, of: readonly WorldSeries[], moments: readonly AlertMoment[]): RuleTest => ({
    name: `${alert} ${name}`,
    interval: step,
    input_series: inputSeries(of, firesAt + 2),
    alert_rule_test: moments,
  });
  const healthy = health(minutes[step] * 60);
  const early = quietAt === null ? [] : [moment(quietAt, [])];
  const late = arrivals.map((arrival) => expected(table, arrival));
  const quietWorlds = Object.entries(quiet).flatMap(([name, of]) => inClusters(name, [...healthy, ...of]));
  return [
    test("fires", [...healthy, ...world], [...early, moment(firesAt, late)]),
    test("is quiet", [...healthy, ...quietWorlds], [moment(firesAt, [])]),
  ];
}

/** The same world in clusters whose names say which it is. */
function inClusters(name: string, world: readonly WorldSeries[]): readonly WorldSeries[] {
  return world.map((one) => ({ ...one, labels: { ...one.labels, cluster: `${one.labels.cluster}: ${name}` } }));
}

function expected(table: AlertTable, { labels, description, subject, advice, dashboard }: Arrival): ExpectedAlert {
  const { alert, severity, area, action, summary } = table;
  const recommendations = "https://fairlead.example.org/recommendations";
  return {
    exp_labels: { ...labels, severity, area, action },
    exp_annotations: {
      summary,
      description,
      ...(subject === undefined ? {} : { subject }),
      recommendation: advice?.text ?? "No open recommendation answers this alert; the runbook says what to check.",
      recommendation_url: advice === null ? recommendations : `${recommendations}/${advice.id}`,
      saving: advice?.saving ?? "No saving is known.",
      runbook_url: `https://fairlead.example.org/runbooks/${alert.toLowerCase()}.md`,
      dashboard_url: `https://grafana.example.org/d/${dashboard}`,
    },
  };
}
