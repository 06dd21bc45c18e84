import path from "node:path";
import { checkValue } from "../../config/checkValue.ts";
import type { ConfigError, ConfigResult } from "../../config/configError.ts";
import { parseYaml, readYamlFile } from "../../config/yamlFile.ts";
import { bareRecord } from "../../kernel/bareRecord.ts";
import { compareText } from "../../kernel/compareText.ts";
import type { ListedPrice, PricedNodes } from "../../model/prices.ts";
import { dayOrTime, type PriceFile, priceFileSchema } from "./priceFileSchema.ts";

/** Reads the user's prices, in the order of the file, or everything that is wrong with them. */
export async function readPriceFile(file: string): Promise<ConfigResult<readonly ListedPrice[]>> {
  const yaml = await readYamlFile(file);
  return yaml.ok ? checkPrices(yaml.value, path.basename(file)) : yaml;
}

/** Parses the text of a price file called `name` in the same way. */
export function parsePriceFile(text: string, name: string): ConfigResult<readonly ListedPrice[]> {
  const yaml = parseYaml(text);
  return yaml.ok ? checkPrices(yaml.value, name) : yaml;
}

function checkPrices(data: unknown, name: string): ConfigResult<readonly ListedPrice[]> {
  const checked = checkValue(priceFileSchema, data);
  if (!checked.ok) return checked;
  const { value } = checked;
  const prices = value.prices.map((entry) => listed(entry, value, name));
  const errors = [...undated(value), ...repeated(prices)];
  return errors.length > 0 ? { ok: false, errors } : { ok: true, value: prices };
}

function listed(entry: PriceFile["prices"][number], file: PriceFile, name: string): ListedPrice {
  const validFrom = entry.validFrom === undefined ? null : dayOrTime(entry.validFrom);
  const date = entry.date ?? entry.validFrom ?? file.date;
  return {
    source: "file",
    nodes: nodesOf(entry),
    capacityType: entry.capacityType,
    perNodeHour: entry.perNodeHour ?? null,
    perGpuHour: entry.perGpuHour ?? null,
    currency: entry.currency ?? file.currency,
    basis: entry.basis,
    validFrom,
    date: (date === undefined ? null : dayOrTime(date)) ?? 0,
    origin: entry.origin ?? file.origin ?? name,
  };
}

function nodesOf(entry: PriceFile["prices"][number]): PricedNodes {
  return {
    instanceType: entry.instanceType ?? null,
    gpuModel: entry.gpuModel ?? null,
    provider: entry.provider ?? null,
    region: entry.region ?? null,
    nodePool: entry.nodePool ?? null,
    labels: Object.assign(bareRecord<string>(), entry.labels),
  };
}

/** The error of prices without a date, which would never become old. */
function undated({ date, prices }: PriceFile): readonly ConfigError[] {
  if (date !== undefined) return [];
  const message =
    "missing, expected the day on which the price was last checked, here or once for the whole file (date: 2026-10-01)";
  return prices.flatMap((entry, index) =>
    entry.date === undefined && entry.validFrom === undefined ? [{ path: `prices[${index}].date`, message }] : [],
  );
}

/** The errors of repeated entries: the first of two entries for the same nodes would always win. */
function repeated(prices: readonly ListedPrice[]): readonly ConfigError[] {
  const first = new Map<string, number>();
  return prices.flatMap(({ nodes, capacityType, basis, validFrom }, index) => {
    const labels = Object.entries(nodes.labels).sort(([a], [b]) => compareText(a, b));
    const key = JSON.stringify([{ ...nodes, labels }, capacityType, basis, validFrom]);
    const earlier = first.get(key);
    if (earlier === undefined) {
      first.set(key, index);
      return [];
    }
    const message = `is for the same nodes as prices[${earlier}], which is before it, expected other nodes, another capacityType or another validFrom`;
    return [{ path: `prices[${index}]`, message }];
  });
}
