import { sampleLine, type TargetLabels } from "./timedSamples.ts";

/** A series that an alert's expression returned over time. */
export interface AlertMatches {
  readonly labels: TargetLabels;
  /** The times at which the expression returned it, seconds since the epoch, in order. */
  readonly at: readonly number[];
}

const seconds: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 };

/** The seconds in `1h30m` and the like; 0 for no text. */
export function secondsOf(span: string | undefined): number {
  return [...(span ?? "").matchAll(/(\d+)(ms|[smhdw])/g)].reduce(
    (sum, [, count, unit = ""]) => sum + Number(count) * (seconds[unit] ?? 0.001),
    0,
  );
}

/**
 * The series `ALERTS` and `ALERTS_FOR_STATE` of one alert, as a Prometheus that evaluates it every `stepSeconds` writes them.
 * `keep_firing_for`, which keeps an alert firing after its condition is over, is left out.
 */
export function alertSeries(
  alert: { readonly alert: string; readonly for?: string; readonly labels: TargetLabels },
  matches: readonly AlertMatches[],
  stepSeconds: number,
): string {
  const waits = secondsOf(alert.for);
  const lines: string[] = [];
  for (const { labels, at } of matches) {
    const all = { ...labels, ...alert.labels, alertname: alert.alert };
    let since = 0;
    let before = Number.NEGATIVE_INFINITY;
    for (const now of at) {
      if (now - before > stepSeconds * 1.5) since = now;
      before = now;
      const alertstate = now - since >= waits ? "firing" : "pending";
      lines.push(sampleLine("ALERTS", { ...all, alertstate }, 1, now));
      lines.push(sampleLine("ALERTS_FOR_STATE", all, since, now));
    }
  }
  return lines.join("");
}
