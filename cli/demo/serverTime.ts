import { definitionOf, metricNames } from "../../exporter/catalogue/catalogue.ts";
import type { Unit } from "../../exporter/catalogue/metric.ts";

/** A page of metrics, and the moment of its cycle by both clocks, seconds since the epoch. */
export interface PageAt {
  readonly text: string;
  readonly simulatedAt: number;
  readonly at: number;
}

/** Units that add up while time passes: a rate of them is an amount of GPUs, watts or money. */
const accruing: ReadonlySet<Unit> = new Set<Unit>([
  "seconds",
  "gpu_seconds",
  "node_seconds",
  "joules",
  "cost",
  "grams",
]);

const definitions: ReadonlyMap<string, ReturnType<typeof definitionOf>> = new Map(
  metricNames.map((name) => [name, definitionOf(name)]),
);

/**
 * Makes pages of metrics fit for a server with an ordinary clock. A Prometheus cannot be sped up: in a cluster that is played
 * six times as fast, it would measure six times as many GPUs. Counters of time, and of what accrues with it, therefore grow as
 * much per second of the server as they really do per simulated second, even if the cycles come unevenly. Moments become those
 * at which they were played. Everything else stays as it is.
 */
export function createServerTime(speed: number): (page: PageAt) => string {
  let last: Pick<PageAt, "simulatedAt" | "at"> | null = null;
  /** The counters of the last page by the text before their value: the value on that page, and the value that was passed on. */
  let counted = new Map<string, readonly [real: number, passedOn: number]>();
  return ({ text, simulatedAt, at }) => {
    const simulated = last === null ? 0 : simulatedAt - last.simulatedAt;
    const factor = last === null || simulated <= 0 ? 1 / speed : (at - last.at) / simulated;
    last = { simulatedAt, at };
    const next = new Map<string, readonly [number, number]>();
    const lines = text.split("\n").map((line) => {
      const name = /^[a-zA-Z_:][\w:]*/.exec(line)?.[0] ?? "";
      const definition = definitions.get(name);
      if (definition === undefined) return line;
      const end = line.lastIndexOf(" ");
      const [head, value] = [line.slice(0, end), Number(line.slice(end + 1))];
      if (isMoment(name)) return `${head} ${at - (simulatedAt - value) / speed}`;
      if (definition.type !== "counter" || !accruing.has(definition.unit)) return line;
      const [before, passedOn] = counted.get(head) ?? [0, 0];
      // A new series grew while no page showed it, so the wanted speed is assumed for that time.
      const grown = counted.has(head) ? passedOn + (value - before) * factor : value / speed;
      next.set(head, [value, grown]);
      return `${head} ${grown}`;
    });
    counted = next;
    return lines.join("\n");
  };
}

const isMoment = (name: string): boolean => name.endsWith("_timestamp_seconds");
