import { readFileSync } from "node:fs";
import type { Machine } from "./machine.ts";

/** All answers of one run of the bench, as they are in `bench/results/latest.json`. */
export interface Results {
  readonly command: string;
  /** The start of the run, as ISO 8601. */
  readonly startedAt: string;
  readonly seconds: number;
  readonly machine: Machine;
  readonly loadBefore: number;
  /** Whether the bench ran although the machine was busy. */
  readonly anyLoad: boolean;
  /** The answers by the key of their step. */
  readonly answers: Readonly<Record<string, unknown>>;
}

export const latestFile = new URL("results/latest.json", import.meta.url);

export function readResults(): Results {
  return JSON.parse(readFileSync(latestFile, "utf8"));
}

/** A value inside an answer; `undefined` where there is none. */
export function valueAt(root: unknown, path: readonly string[]): unknown {
  let value = root;
  for (const step of path) {
    if (typeof value !== "object" || value === null) return undefined;
    value = Object.entries(value).find(([key]) => key === step)?.[1];
  }
  return value;
}

/** A number inside an answer; `NaN` where there is none. */
export function numberAt(root: unknown, ...path: readonly string[]): number {
  const value = valueAt(root, path);
  return typeof value === "number" ? value : Number.NaN;
}

/** A figure of an answer; `NaN` where there is none. */
export function figure(results: Results, key: string, name: string): number {
  return numberAt(results.answers, key, "figures", name);
}

/** Median CPU milliseconds of a contender; `NaN` where there is none. */
export function cpuMs(results: Results, key: string, contender: string): number {
  const measurements = valueAt(results.answers, [key, "measurements"]);
  if (!Array.isArray(measurements)) return Number.NaN;
  return numberAt(
    measurements.find((one: unknown) => numberOfName(one, contender)),
    "cpuMs",
  );
}

function numberOfName(measurement: unknown, name: string): boolean {
  return valueAt(measurement, ["name"]) === name;
}

/** Sizes at which a question was asked, in ascending order. */
export function sizesOf(results: Results, question: string): readonly number[] {
  return Object.keys(results.answers)
    .filter((key) => key.startsWith(`${question}@`))
    .map((key) => Number(key.slice(question.length + 1)))
    .toSorted((a, b) => a - b);
}
