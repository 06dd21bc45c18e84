import { type AlertingRule, alertGroups, type RecordingRule, recordingGroups } from "../../alerts/ruleGroups.ts";
import { ofOneReplica } from "../../alerts/rules/recorded.ts";
import type { AlertsConfig } from "../../alerts/thresholds.ts";
import { secondsOf } from "../../cli/demo/backfill/alertSeries.ts";
import { rulePasses } from "../../cli/demo/backfill/playedPrometheus.ts";
import { metric } from "../../exporter/catalogue/promql.ts";
import { EndingWriter, type Labels, type WrittenSeries, writeSeries } from "./promRemoteWrite.ts";
import { answersOver, type SampledSeries } from "./twoReplicasSamples.ts";

/** What the test has recorded beside our rules: every state of every pool. */
export const statesOfPools = "test:pool_states:sum";

const states = `sum by (cluster, pool, state) (${ofOneReplica(metric("fairlead_gpus")).text})`;
export const poolStates: RecordingRule = { record: statesOfPools, expr: states };

/** The rules that read what they have recorded themselves an evaluation before: they go with the play, one moment at a time. */
const ofTheMoment = ["cluster:fairlead_replica:rank", "cluster:fairlead_replica:longest"] as const;

/** Evaluates our rules at played moments, and writes what they give, as a Prometheus does that evaluates them then. */
export interface PlayedRules {
  /** Chooses the replica that is read, at a moment in seconds; all pages of that moment must be there. */
  choose(at: number): Promise<void>;
  /** Evaluates all other rules and then the alerts at every moment from `from` to `to`. */
  record(from: number, to: number): Promise<void>;
}

export function createPlayedRules(url: string, settings: AlertsConfig, step: number): PlayedRules {
  const rules = [...recordingGroups(settings).flatMap((group) => group.rules), poolStates];
  const isOfTheMoment = ({ record }: RecordingRule): boolean => ofTheMoment.some((name) => name === record);
  const writer = new EndingWriter(url);

  /** Answers for the moments of a range, each of them in milliseconds, without the name of what was read. */
  const evaluated = async (expr: string, from: number, to: number): Promise<readonly SampledSeries[]> =>
    (await answersOver(url, expr, from, to, step)).map(({ labels: { __name__: _, ...labels }, samples }) => ({
      labels,
      samples,
    }));

  async function recordPass(pass: readonly RecordingRule[], from: number, to: number): Promise<void> {
    for (const { record, expr } of pass) {
      const series = await evaluated(expr, from, to);
      await writeSeries(
        url,
        series.map(({ labels, samples }) => withEnds({ ...labels, __name__: record }, samples, from, to, step)),
      );
    }
  }

  return {
    async choose(at) {
      for (const { record, expr } of rules.filter(isOfTheMoment)) {
        const series = await evaluated(expr, at, at);
        const samples = series.map(
          ({ labels, samples }) => [{ ...labels, __name__: record }, samples.get(at * 1000) ?? Number.NaN] as const,
        );
        await writer.write(record, at * 1000, samples);
      }
    },
    async record(from, to) {
      for (const pass of rulePasses(rules.filter((rule) => !isOfTheMoment(rule)))) await recordPass(pass, from, to);
      for (const alert of alertGroups(settings).flatMap((group) => group.rules)) {
        const matches = await evaluated(alert.expr, from, to);
        await writeSeries(
          url,
          matches.flatMap((match) => alertStates(alert, match, { from, to, step })),
        );
      }
    },
  };
}

/** The samples in order, with the end of the series at the first moment at which it is not there any more. */
function withEnds(
  labels: Labels,
  samples: ReadonlyMap<number, number>,
  from: number,
  to: number,
  step: number,
): WrittenSeries {
  const written: (readonly [number, number | null])[] = [];
  for (let at = from * 1000; at <= to * 1000; at += step * 1000) {
    const value = samples.get(at);
    if (value !== undefined) written.push([at, value]);
    else if (samples.has(at - step * 1000)) written.push([at, null]);
  }
  return { labels, samples: written };
}

/** The series `ALERTS` of an alert, pending until it has waited, from the moments at which its condition held. */
function alertStates(
  { alert, labels: own, for: wait }: AlertingRule,
  { labels, samples }: SampledSeries,
  { from, to, step }: { readonly from: number; readonly to: number; readonly step: number },
): readonly WrittenSeries[] {
  const states = { pending: new Map<number, number>(), firing: new Map<number, number>() };
  let since = 0;
  for (const at of [...samples.keys()].toSorted((a, b) => a - b)) {
    if (!samples.has(at - step * 1000)) since = at;
    states[at - since >= secondsOf(wait) * 1000 ? "firing" : "pending"].set(at, 1);
  }
  return (["pending", "firing"] as const).map((alertstate) =>
    withEnds(
      { ...labels, ...own, __name__: "ALERTS", alertname: alert, alertstate },
      states[alertstate],
      from,
      to,
      step,
    ),
  );
}
