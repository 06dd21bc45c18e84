import type { AlertName } from "../../alerts/alertList.ts";
import { ruleFiles } from "../../alerts/output/ruleFiles.ts";
import { duration, secondsOf } from "../../alerts/settingParts.ts";
import { type AlertsConfig, alertsSchema, defaultAlerts } from "../../alerts/thresholds.ts";

/** How a demo is played. */
export interface PlayedPace {
  /** Seconds between two cycles, of the simulated time. */
  readonly interval: number;
  /** Simulated seconds per second. */
  readonly speed: number;
}

/** Whole seconds between two cycles by the clock of a server: how often it scrapes, and evaluates its rules. */
export const stepSeconds = ({ interval, speed }: PlayedPace): number => Math.max(1, Math.round(interval / speed));

/** The settings of the alerts for a demo: every length of time is divided by the speed of the demo. */
export function demoAlerts(pace: PlayedPace, fairleadUrl: string): AlertsConfig {
  const alerts = Object.entries(defaultAlerts.alerts).map(([name, settings]) => [
    name,
    Object.fromEntries(Object.entries(settings).map(([key, value]) => [key, shortened(value, pace.speed)])),
  ]);
  return alertsSchema.parse({
    interval: `${stepSeconds(pace)}s`,
    fairleadUrl,
    alerts: Object.fromEntries(alerts),
  });
}

function shortened(value: unknown, speed: number): unknown {
  const length = duration.safeParse(value);
  if (!length.success) return value;
  const seconds = secondsOf(length.data);
  if (seconds === 0) return length.data;
  const shorter = Math.max(1, Math.round(seconds / speed));
  // In a slow demo the lengths are longer, and a number in a setting has at most six digits.
  return shorter < 1e6 ? `${shorter}s` : `${Math.round(shorter / 60)}m`;
}

/** What `fairlead alerts` writes with these settings for a Prometheus: rules by the name of their file. */
export function demoRuleFiles(settings: AlertsConfig): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(ruleFiles(settings)).flatMap(([file, text]) =>
      file.startsWith("rules/") ? [[file.slice("rules/".length), text]] : [],
    ),
  );
}

/** Says after how long an alert fires in the demo, with the alert that its story is about as the example. */
export function alertPaceText(settings: AlertsConfig, speed: number, example: AlertName = "GpuIdleAllocated"): string {
  const real = secondsOf(defaultAlerts.alerts[example].for);
  const here = secondsOf(settings.alerts[example].for);
  const all = `alerts wait ${speed} times less than in a cluster`;
  const pace = speed === 1 ? "alerts wait as long as in a cluster" : all;
  return `${pace}: ${example} fires ${lengthText(here)} after its condition begins (${lengthText(real)} of simulated time)`;
}

function lengthText(seconds: number): string {
  if (seconds < 120) return `${seconds} s`;
  return seconds % 60 === 0 ? `${seconds / 60} min` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}
