import { z } from "zod";
import { bareRecord } from "../../kernel/bareRecord.ts";
import type { ListedPrice } from "../../model/prices.ts";
import { dayOrTime } from "./priceFileSchema.ts";
import data from "./table.json" with { type: "json" };

/** One list price of Fairlead's own table. */
export interface TableRow {
  readonly provider: string;
  /** The instance type; `null` for any node of the provider that has this model. */
  readonly instanceType: string | null;
  /** Canonical GPU model. */
  readonly gpuModel: string;
  /** Number of GPUs of one instance; a fraction where it has a part of a GPU. */
  readonly gpus: number;
  /** Price of one instance, on demand, per hour. */
  readonly perNodeHour: number;
  readonly currency: string;
  /** The time when the price was read at its origin, seconds since the epoch. */
  readonly date: number;
  readonly origin: string;
  /** The region of the cloud that the price is for; `null` if it is the same in all regions. */
  readonly region: string | null;
}

const schema = z.object({
  currency: z.string(),
  sources: z.record(
    z.string(),
    z.object({ origin: z.string(), date: z.string(), region: z.string().nullable().default(null) }),
  ),
  prices: z.array(
    z.tuple([z.string(), z.string().nullable(), z.string(), z.number().positive(), z.number().positive(), z.string()]),
  ),
});

/** All rows of the table, in its order. */
export const tableRows: readonly TableRow[] = rowsOf(data);

/** The table as prices: by instance type, else by model and provider. */
export const tablePrices: readonly ListedPrice[] = tableRows.map(listed);

function rowsOf(table: unknown): readonly TableRow[] {
  const { currency, sources, prices } = schema.parse(table);
  return prices.flatMap(([provider, instanceType, gpuModel, gpus, perNodeHour, key]) => {
    const source = sources[key];
    const date = source === undefined ? null : dayOrTime(source.date);
    if (source === undefined || date === null) return [];
    const { origin, region } = source;
    return [{ provider, instanceType, gpuModel, gpus, perNodeHour, currency, date, origin, region }];
  });
}

function listed(row: TableRow): ListedPrice {
  const { provider, instanceType, gpuModel, gpus, perNodeHour, currency, date, origin, region } = row;
  const byType = instanceType !== null;
  return {
    source: "table",
    nodes: {
      instanceType,
      gpuModel: byType ? null : gpuModel,
      provider,
      region: null,
      nodePool: null,
      labels: bareRecord(),
    },
    capacityType: "on-demand",
    perNodeHour: byType ? perNodeHour : null,
    perGpuHour: byType ? null : perNodeHour / gpus,
    currency,
    basis: "whole-instance",
    validFrom: null,
    date,
    origin,
    ...(region === null ? {} : { regionOfPrice: region }),
  };
}
