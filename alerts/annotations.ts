import { type AdviceMatch, type AlertName, listedAlert, type SubjectLabel } from "./alertList.ts";
import { dashboardUid } from "./dashboardUid.ts";
import type { RecordedName } from "./rules/recordedNames.ts";
import { gpuNumber, gpuWord } from "./rules/wording.ts";
import { type NamedSubjects, namedSubjects } from "./subjects.ts";
import type { AlertsConfig } from "./thresholds.ts";

/** The annotations that every alert carries. */
export interface Annotations {
  readonly summary: string;
  /** The problem, in one line that names the workloads or nodes that have it, or the list that contains them. */
  readonly description: string;
  /** Only the names, for a title; absent for alerts that are not about workloads, nodes or GPUs. */
  readonly subject?: string;
  /** What to do, in one line, or the statement that nothing is recommended. */
  readonly recommendation: string;
  readonly recommendation_url: string;
  /** The amount that the recommendation would save. */
  readonly saving: string;
  readonly runbook_url: string;
  readonly dashboard_url: string;
}

/** The text where no series has a name. */
export const noSubject = "No name is known.";

/** The text where nothing is recommended. It is fixed, so that receivers and people recognize it. */
export const noRecommendation = "No open recommendation answers this alert; the runbook says what to check.";

/** The text where no saving is known. */
export const noSaving = "No saving is known.";

const gpusSeries = "cluster_recommendation:fairlead_recommendation_gpus:max" satisfies RecordedName;
const savingSeries = "cluster_recommendation:fairlead_recommendation_saving_per_week:max" satisfies RecordedName;

/** The annotations of an alert, as templates of Prometheus that vmalert understands, too. */
export function annotationsOf(name: AlertName, description: string, config: AlertsConfig): Annotations {
  const { advice, summary } = listedAlert(name);
  const recommendations = `${trimmed(config.fairleadUrl)}/recommendations`;
  const subjects = namedSubjects[name];
  return {
    summary,
    ...(subjects === undefined ? { description } : withNames(description, subjects, config)),
    ...(advice === undefined
      ? { recommendation: noRecommendation, recommendation_url: recommendations, saving: noSaving }
      : fromAdvice(advice, recommendations)),
    runbook_url: runbookUrl(name, config),
    dashboard_url: dashboardUrl(name, config),
  };
}

/** Address of an alert's runbook. */
export function runbookUrl(name: AlertName, config: AlertsConfig): string {
  return config.runbookUrl.replaceAll("{alert}", name.toLowerCase());
}

/** The greatest number of names in one line. */
const shownNames = 3;

/** The template that writes one name. */
const nameOf: Readonly<Record<NamedSubjects["names"], string>> = {
  workloads: '{{ $one | label "namespace" }}/{{ $one | label "workload" | reReplaceAll "^[^/]*/" "" }}',
  nodes: '{{ $one | label "lost_node" }}',
  gpus: '{{ $one | label "gpu" }} of node {{ $one | label "sick_node" }}, {{ $one | label "cause" }}',
};

function withNames(
  description: string,
  { series, same, only, lead, list, names: kind }: NamedSubjects,
  config: AlertsConfig,
) {
  const labels: SubjectLabel[] = ["cluster"];
  const asked = ["cluster=%[1]q"];
  for (const [label, value] of Object.entries(same)) asked.push(`${label}=%[${labels.push(value)}]q`);
  for (const [label, value] of Object.entries(only)) asked.push(`${label}="${value}"`);
  const found = query(`topk(${shownNames}, ${series}{${asked.join(", ")}})`, labels);
  const names = `{{ range $i, $one := . }}{{ if $i }}, {{ end }}${nameOf[kind]} ({{ $gpus := $one | value }}${gpuNumber("$gpus")} ${gpuWord("$gpus")}){{ end }}`;
  const all = `${trimmed(config.fairleadUrl)}/api/v1/${list.replaceAll(/\{(\w+)\}/g, '{{ (or $$labels.$1 "") | urlquery }}')}`;
  return {
    description: `${description} {{ with ${found} }}${lead} ${names}.{{ else }}${all} names what it is about.{{ end }}`,
    subject: `{{ with ${found} }}${names}{{ else }}${noSubject}{{ end }}`,
  };
}

function fromAdvice(advice: AdviceMatch, recommendations: string) {
  const best = bestOf(advice);
  const isOnly = (wanted: string): boolean => advice.kinds.every((kind) => kind === wanted);
  const amount = `${gpuNumber("$gpus")} ${gpuWord("$gpus")}`;
  // Restarting an exporter only shows GPUs again, and draining a node only lets them be repaired: neither alone gains GPUs.
  const gain = isOnly("fix_source")
    ? `shows ${amount} again`
    : isOnly("drain_node")
      ? `lets ${amount} be repaired`
      : `gains ${amount}`;
  const saving = query(`${savingSeries}{cluster=%[1]q} and on (cluster, id) (${best.expression})`, best.labels);
  const found = query(best.expression, best.labels);
  return {
    recommendation: `{{ with ${found} }}{{ $gpus := . | first | value }}{{ . | first | label "title" }} (${gain}){{ else }}${noRecommendation}{{ end }}`,
    recommendation_url: `${recommendations}{{ with ${found} }}/{{ . | first | label "id" | urlquery }}{{ end }}`,
    saving: `{{ with ${saving} }}{{ range $i, $one := . }}{{ if $i }}, {{ end }}{{ $one | value | printf "%.0f" }} {{ $one | label "currency" }} a week{{ end }}{{ else }}${noSaving}{{ end }}`,
  };
}

/**
 * The open recommendation that gains most among those that answer the alert; each `%[n]q` is replaced by the value of a label
 * of the alert.
 */
function bestOf({ kinds, same }: AdviceMatch): {
  readonly expression: string;
  readonly labels: readonly SubjectLabel[];
} {
  const labels: SubjectLabel[] = ["cluster"];
  const shared = ["cluster=%[1]q", `kind=~"${kinds.join("|")}"`];
  const places: string[] = [];
  for (const [label, value] of Object.entries(same)) {
    labels.push(value);
    (label === "pool" || label === "queue" ? places : shared).push(`${label}=%[${labels.length}]q`);
  }
  const exact = `${gpusSeries}{${[...shared, ...places].join(", ")}}`;
  if (places.length === 0) return { expression: `topk(1, ${exact})`, labels };
  // Recommendations for several pools or queues name none; they answer the alert where no recommendation names its own.
  const anywhere = `${gpusSeries}{${[...shared, ...places.map((place) => place.replace(/=.*/, '=""'))].join(", ")}}`;
  return { expression: `topk(1, ${exact}) or topk(1, ${anywhere} unless on (cluster) ${exact})`, labels };
}

/**
 * A call of the template function `query`, with the values of labels quoted as in PromQL. In vmalert, a label that an alert
 * lacks has no value at all, which could not be quoted.
 */
function query(expression: string, labels: readonly SubjectLabel[]): string {
  return `query (printf \`${expression}\` ${labels.map(orEmpty).join(" ")})`;
}

/** The address of an alert's dashboard, which takes the labels of the alert as variables of the same names. */
function dashboardUrl(name: AlertName, { dashboardUrl: pattern }: AlertsConfig): string {
  const { dashboard, labels } = listedAlert(name);
  const address = pattern.replaceAll("{dashboard}", dashboardUid(dashboard));
  const variables = labels.map((label) => `var-${label}={{ ${orEmpty(label)} | urlquery }}`);
  return `${address}${address.includes("?") ? "&" : "?"}${variables.join("&")}`;
}

function orEmpty(label: SubjectLabel): string {
  return `(or $labels.${label} "")`;
}

function trimmed(url: string): string {
  return url.replace(/\/+$/, "");
}
