import { z } from "zod";
import type { Duration } from "../exporter/catalogue/promql.ts";
import { type AlertName, actions, listedAlert, severities } from "./alertList.ts";

const durationPattern = /^(0|[1-9]\d{0,5})[smhdw]$/;

function isDuration(value: unknown): value is Duration {
  return typeof value === "string" && durationPattern.test(value);
}

/** A length of time in Prometheus' form, with one unit. */
export const duration = z.custom<Duration>(isDuration, {
  error: ({ input }) => `is ${shown(input)}, expected a whole number and a unit (s, m, h, d, w), such as 30m`,
});

/** A duration of more than nothing, as a window must have. */
export const span = z.custom<Duration>((value) => isDuration(value) && !value.startsWith("0"), {
  error: ({ input }) => `is ${shown(input)}, expected a whole number from 1 on and a unit (s, m, h, d, w), such as 6h`,
});

const seconds = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 } as const;

/** A duration in seconds. */
export function secondsOf(of: Duration): number {
  const number = Number(of.slice(0, -1));
  if (of.endsWith("s")) return number * seconds.s;
  if (of.endsWith("m")) return number * seconds.m;
  if (of.endsWith("h")) return number * seconds.h;
  return number * (of.endsWith("d") ? seconds.d : seconds.w);
}

/** A number of physical GPUs. */
export const gpus = z.number().min(0).max(1_000_000);

/** A part of a whole, 0..1. */
export const ratio = z.number().min(0).max(1);

/** A multiple of something else. */
export const factor = z.number().min(1).max(1000);

/** A number of things that are counted. */
export const count = z.number().int().min(0).max(1_000_000);

/** An amount of money, in units of the currency of the series. */
export const amount = z.number().min(0).max(1e12);

// These parts differ; JavaScript and RE2 agree on everything else that people write in matchers.
const notRe2 = /\(\?(=|!|<=|<!)|\\[1-9]|\\k</;

/** A regular expression that Prometheus accepts, too. */
const pattern = z
  .string()
  .min(1)
  .max(500)
  .refine((text) => isPattern(text), {
    error: ({ input }) => `is ${shown(input)}, expected a regular expression of RE2`,
  });

function isPattern(text: string): boolean {
  if (notRe2.test(text) || text.includes("\n")) return false;
  try {
    return new RegExp(text, "u").source !== "";
  } catch {
    return false;
  }
}

/**
 * The limits from which on lost GPU time is worth waking someone for, whatever the number of GPUs: 8 for four hours are as much
 * as 64 for half an hour.
 */
export function worthWaking() {
  return {
    gpuHoursAbove: z
      .number()
      .min(0)
      .max(1e9)
      .default(32)
      .describe("GPU-hours that must be lost within the window at least."),
    costAbove: amount
      .default(100)
      .describe("What these GPU-hours must cost at least; where their price is not known, the GPU-hours alone decide."),
    window: span.default("4h").describe("Window in which the lost GPU-hours are added up."),
  };
}

/** How long an alert waits before it fires, and how long it lasts after its condition has ended. */
interface Timing {
  readonly for: Duration;
  readonly keepFiringFor: Duration;
}

/** The settings that every alert has. */
export function common(name: AlertName, timing: Timing) {
  const { action, labels } = listedAlert(name);
  return {
    enabled: z.boolean().default(true).describe("Whether the alert is written at all."),
    for: duration.default(timing.for).describe("How long the condition must hold before the alert fires."),
    keepFiringFor: duration
      .default(timing.keepFiringFor)
      .describe("How long the alert goes on after its condition has ended; 0m: not at all."),
    severity: z
      .enum(severities)
      .optional()
      .describe("Label `severity`; by default it says what `action` says: page critical, ticket warning, digest info."),
    action: z.enum(actions).default(action).describe("Label `action`."),
    exclude: z
      .partialRecord(z.enum(labels), z.array(pattern).min(1).max(200))
      .default({})
      .describe(
        "Label -> regular expressions of values for which the alert never fires; each must match the whole value.",
      ),
  };
}

function shown(input: unknown): string {
  return (JSON.stringify(input) ?? "not given").slice(0, 80);
}
