import { defaultConfig } from "../../exporter/config/defaults.ts";
import { isoDay } from "../../exporter/kernel/isoTime.ts";
import type { CapacityType } from "../../exporter/model/capacityType.ts";
import type { ExitCode, Io } from "../io.ts";
import { pricesWithoutServer } from "../prices.ts";
import { readConfig } from "../readConfig.ts";
import { type FoundPrice, findPrice, type PriceAnswer } from "./findPrice.ts";
import { fileLines, priceText } from "./priceText.ts";

/** Options of `fairlead price`. */
export interface PriceOptions {
  readonly instanceType: string | null;
  readonly gpuModel: string | null;
  readonly provider: string | null;
  readonly capacityType: CapacityType;
  readonly configFile: string | null;
  readonly output: "table" | "json";
}

/** Says what a kind of node costs, by which source; ends with 1 where nobody knows. `at` in seconds since the epoch. */
export async function priceCommand(options: PriceOptions, io: Io, at = Date.now() / 1000): Promise<ExitCode> {
  const { instanceType, gpuModel, provider, capacityType } = options;
  if (instanceType === null && gpuModel === null) {
    io.err("fairlead: nothing is asked for\nNext step: fairlead price INSTANCE_TYPE, or --gpu-model MODEL.\n");
    return 2;
  }
  const config = options.configFile === null ? defaultConfig : await readConfig(options.configFile, io);
  if (config === null) return 1;
  const account = await pricesWithoutServer(config.prices);
  const answer = findPrice({ instanceType, gpuModel, provider, capacityType }, account, config.prices, at);
  io.out(options.output === "json" ? `${JSON.stringify(record(answer, at), null, 2)}\n` : priceText(answer, at));
  return answer.prices.length > 0 ? 0 : 1;
}

/** The answer with days as people write them. */
function record(answer: PriceAnswer, at: number) {
  const { prices, compared, ...rest } = answer;
  const [price, ...others] = prices.map(dated);
  return {
    ...rest,
    price: price ?? null,
    others,
    compared: compared.map((row) => ({ ...row, date: isoDay(row.date) })),
    entry: fileLines(answer, at),
  };
}

function dated(price: FoundPrice) {
  return { ...price, date: isoDay(price.date) };
}
