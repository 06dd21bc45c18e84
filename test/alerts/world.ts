import type { LabelsOf, SeriesName } from "../../exporter/catalogue/catalogue.ts";

/** A series of promtool; a number stays as it is for the whole test, a text is promtool's own notation. */
export interface WorldSeries {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number | string;
}

/** One series of a metric, as a server has it that scrapes the only replica of its cluster. */
export function series<Name extends SeriesName>(
  name: Name,
  labels: Readonly<Record<LabelsOf<Name>, string>>,
  value: number | string,
): WorldSeries {
  return { name, labels: { ...labels, ...replicaOf(labels), job: "fairlead" }, value };
}

/** The same from another replica. */
export function fromReplica(number: number, of: WorldSeries): WorldSeries {
  return { ...of, labels: { ...of.labels, instance: `10.0.9.${number}:10836`, pod: `fairlead-${number}` } };
}

function replicaOf(labels: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return { instance: labels.cluster === "west" ? "10.0.2.1:10836" : "10.0.1.1:10836", pod: "fairlead-0" };
}

/** What every Fairlead that works publishes, of two clusters. */
export function health(step: number): readonly WorldSeries[] {
  return ["east", "west"].flatMap((cluster) => [
    series("fairlead_build_info", { cluster, version: "1", node_version: "24" }, 1),
    series("fairlead_covered_seconds_total", { cluster }, `0+${step}x#`),
    series("fairlead_last_cycle_timestamp_seconds", { cluster }, `0+${step}x#`),
    series("fairlead_cycle_duration_seconds", { cluster, stage: "join" }, 2),
    series("fairlead_series_dropped", { cluster }, 0),
  ]);
}

interface Advised {
  readonly cluster: string;
  readonly id: string;
  readonly kind: string;
  readonly title: string;
  readonly gpus: number;
  readonly from_team?: string;
  readonly for_team?: string;
  readonly queue?: string;
  readonly pool?: string;
  readonly saving?: readonly [amount: number, currency: string];
}

/** The series of one open recommendation. */
export function recommendation(advised: Advised): readonly WorldSeries[] {
  const { cluster, id, kind, title, gpus, saving } = advised;
  const { from_team = "", for_team = "", queue = "", pool = "" } = advised;
  const record = { cluster, id, kind, from_team, for_team, queue, pool };
  return [
    series("fairlead_recommendation_gpus", record, gpus),
    series("fairlead_recommendation_info", { cluster, id, title, act: "do" }, 1),
    ...(saving === undefined
      ? []
      : [series("fairlead_recommendation_saving_per_week", { ...record, currency: saving[1] }, saving[0])]),
  ];
}

/** As promtool reads them, for so many steps. */
export function inputSeries(
  world: readonly WorldSeries[],
  steps: number,
): readonly { readonly series: string; readonly values: string }[] {
  return world.map(({ name, labels, value }) => {
    const matchers = Object.entries(labels).map(([label, text]) => `${label}=${JSON.stringify(text)}`);
    const values = typeof value === "number" ? `${value}+0x${steps}` : value.replaceAll("#", `${steps}`);
    return { series: `${name}{${matchers.join(",")}}`, values };
  });
}
