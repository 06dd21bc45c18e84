import { defaultConfig } from "../../exporter/config/defaults.ts";
import { isoDay } from "../../exporter/kernel/isoTime.ts";
import type { CapacityType } from "../../exporter/model/capacityType.ts";
import { left, plainText, right, tableLines } from "../../exporter/publish/terminal/columns.ts";
import type { ExitCode, Io } from "../io.ts";
import { pricesWithoutServer } from "../prices.ts";
import { readConfig } from "../readConfig.ts";
import { type FoundPrice, findPrice, type PriceAnswer } from "./findPrice.ts";

/** Options of `fairlead price`. */
export interface PriceOptions {
  readonly instanceType: string | null;
  readonly gpuModel: string | null;
  readonly provider: string | null;
  readonly capacityType: CapacityType;
  readonly configFile: string | null;
  readonly output: "table" | "json";
}

/**
 * Says what a kind of node costs, and by which source; ends with 1 where the price is not known. `at`: seconds since the epoch.
 */
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

/** An answer for a terminal. */
function priceText(answer: PriceAnswer, at: number): string {
  const [first, ...others] = answer.prices;
  return [
    first === undefined ? unknownLine(answer) : `${nameOf(answer)} costs ${amounts(first)}`,
    ...(first === undefined ? [] : sourceLines(first)),
    ...others.map((price) => `  the ${price.source} says ${amounts(price)} (${dateText(price)})`),
    ...notes(answer),
    ...compared(answer),
    "",
    `Next step: ${nextStep(answer, first)}`,
    ...(first === undefined || first.isStale ? ["", fileLines(answer, at)] : []),
    "",
  ].join("\n");
}

function nameOf({ instanceType, gpuModel, gpus, capacityType }: PriceAnswer): string {
  const physicalGpus = gpus === null ? gpuModel : gpuModel === null ? `${gpus} GPUs` : `${gpus} x ${gpuModel}`;
  const name = instanceType ?? "a node";
  return plainText(`${name}${physicalGpus === null ? "" : ` (${physicalGpus})`}, ${capacityType},`, 160);
}

function amounts({ perNodeHour, perGpuHour, currency }: FoundPrice): string {
  const parts = [
    ...(perNodeHour === null ? [] : [`${money(perNodeHour)} ${currency} per node and hour`]),
    ...(perGpuHour === null ? [] : [`${money(perGpuHour)} ${currency} per GPU and hour`]),
  ];
  return parts.join(", ");
}

function sourceLines(price: FoundPrice): readonly string[] {
  const basis =
    price.basis === "whole-instance"
      ? "whole-instance: CPU, memory and network of the node are in it"
      : "gpu-share: the GPUs' part of the node alone";
  const where = price.source === "file" ? "your file" : "the table that Fairlead brings";
  return [
    `  source  ${where}: ${plainText(price.origin, 200)}`,
    ...(price.region === null ? [] : [`  region  ${price.region}: in other regions the price is another`]),
    `  date    ${dateText(price)}`,
    `  basis   ${basis}`,
  ];
}

function dateText({ date, ageDays, isStale }: FoundPrice): string {
  return `${isoDay(date)}, ${ageDays} ${ageDays === 1 ? "day" : "days"} ago${isStale ? ": stale" : ""}`;
}

function unknownLine(answer: PriceAnswer): string {
  return `${nameOf(answer)} has no price: nothing is guessed, its cost stays unknown`;
}

function notes({ otherCapacityTypes, untried, hasOpenCost, near, prices }: PriceAnswer): readonly string[] {
  return [
    ...(prices.length === 0 && otherCapacityTypes.length > 0
      ? [`  there is a price for ${otherCapacityTypes.join(", ")}, which says nothing of this one`]
      : []),
    ...(near.length > 0 ? [`  similar names with a price: ${near.join(", ")}`] : []),
    ...(untried > 0
      ? [`  not tried: ${untried} ${untried === 1 ? "entry" : "entries"} of the file for a node pool, region or labels`]
      : []),
    ...(hasOpenCost ? ["  OpenCost was not asked: a running exporter takes its price before the table's"] : []),
  ];
}

function compared({ compared: rows, gpuModel }: PriceAnswer): readonly string[] {
  if (rows.length === 0) return [];
  const columns = [
    ...["provider", "instance type"].map(left),
    ...["GPUs", "per GPU and hour"].map(right),
    left("date"),
  ];
  const cells = rows.map((row) => [
    row.provider,
    row.instanceType ?? "any",
    String(row.gpus),
    `${money(row.perGpuHour)} ${row.currency}`,
    isoDay(row.date),
  ]);
  return ["", `${gpuModel} elsewhere, on-demand list prices:`, ...tableLines(columns, cells)];
}

function nextStep({ prices }: PriceAnswer, first: FoundPrice | undefined): string {
  if (first === undefined) return "put what you pay into the file that prices.file names:";
  if (first.isStale) return "check the price, and put what you pay into the file that prices.file names:";
  return prices[0]?.source === "file"
    ? "fairlead check-config FILE checks the file after a change."
    : "if you pay another price, give it in the file that prices.file names (prices.example.yaml).";
}

/** An entry for the price file, to be completed. */
function fileLines({ instanceType, gpuModel, provider, capacityType, prices }: PriceAnswer, at: number): string {
  const old = prices[0];
  const perGpu = instanceType === null;
  const amount = perGpu ? old?.perGpuHour : old?.perNodeHour;
  const lines = [
    `- ${perGpu ? `gpuModel: ${yamlText(gpuModel ?? "")}` : `instanceType: ${yamlText(instanceType)}`}`,
    ...(perGpu && provider !== null ? [`  provider: ${yamlText(provider)}`] : []),
    ...(capacityType === "on-demand" ? [] : [`  capacityType: ${capacityType}`]),
    `  ${perGpu ? "perGpuHour" : "perNodeHour"}: ${amount == null ? "# what you pay" : `${amount} # what you pay`}`,
    `  currency: ${old?.currency ?? "USD"}`,
    `  date: ${isoDay(at)}`,
  ];
  return ["prices:", ...lines.map((line) => `  ${line}`)].join("\n");
}

function yamlText(text: string): string {
  return /^[A-Za-z][\w.-]*$/.test(text) ? text : JSON.stringify(plainText(text, 253));
}

/** An amount with up to four decimals below ten, and with two above. */
function money(amount: number): string {
  return amount < 10 ? String(Math.round(amount * 10_000) / 10_000) : amount.toFixed(2);
}

function dated(price: FoundPrice) {
  return { ...price, date: isoDay(price.date) };
}
