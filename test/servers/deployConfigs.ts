import fc from "fast-check";
import { z } from "zod";
import { defaultConfig } from "../../exporter/config/defaults.ts";
import { variants } from "./deployVariants.ts";
import { mergedValues } from "./mergedValues.ts";

const { replicas: _, ...withoutReplicas } = defaultConfig;

/** Every setting at its default, with those of a large installation beside them, but for what the chart sets itself. */
const fullConfig: unknown = mergedValues(
  { ...withoutReplicas, ledger: { hourlyDays: 14, dailyDays: 400, workloadDays: 100 } },
  variants["big-cluster"]?.config,
);

type Path = readonly string[];

function pathsOf(of: unknown): readonly Path[] {
  if (typeof of !== "object" || of === null) return [[]];
  const below = Object.entries(of).flatMap(([name, part]) => pathsOf(part).map((path) => [name, ...path]));
  return [[], ...below];
}

/** A copy in which something else is at a place. */
function replaced(of: unknown, [name, ...path]: Path, by: unknown): unknown {
  if (name === undefined) return by;
  if (Array.isArray(of)) return of.map((item, index) => (String(index) === name ? replaced(item, path, by) : item));
  return Object.fromEntries(
    Object.entries(Object(of)).map(([key, part]) => [key, key === name ? replaced(part, path, by) : part]),
  );
}

const other = fc.constantFrom<unknown>(
  ...[
    0,
    1,
    -1,
    0.5,
    2.5,
    1e9,
    99,
    1000,
    true,
    false,
    "",
    "a",
    "x".repeat(400),
    "1",
    "*",
    "/metrics",
    "http",
    "auto",
    "y",
  ],
  ...["https://example.org", "ftp://example.org", "kueue", "EUR", "E U R", "gpu-share", "__name__", [], [1], ["a"], {}],
  ...[{ a: "b" }, { a: 1 }, { unknown: true }, [{}], [{ from: "namespace" }], [{ from: "nowhere" }]],
);

/** Configurations in which something else is in one place; many of them are none that Fairlead takes. */
export const changedConfigs: fc.Arbitrary<unknown> = fc
  .tuple(fc.constantFrom(...pathsOf(fullConfig).filter((path) => path.length > 0)), other)
  .map(([path, by]) => replaced(fullConfig, path, by));

const withLedger = z.looseObject({ ledger: z.looseObject({}) });

/** The same with what the chart puts into it. */
export function asInstalled(config: unknown): unknown {
  const path = "/var/lib/fairlead/ledger.db";
  return withLedger.safeParse(config).success ? mergedValues(config, { ledger: { path } }) : config;
}
