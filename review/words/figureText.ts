import { duration, plainText } from "../../exporter/publish/terminal/columns.ts";
import type { Figure, MoneyUnit, Quantity } from "./figure.ts";
import { dayText } from "./times.ts";

/** The text of a number that nobody knows. */
export const unknownCell = "–";

/** What follows a number, by its unit. */
const suffixes: Readonly<Record<Quantity, string>> = {
  "GPU-h": " GPU-h",
  "GPU-h/week": " GPU-h a week",
  GPUs: " GPUs",
  "GPUs/week": " GPUs a week",
  "node-h": " node-h",
  h: "",
  s: "",
  ratio: "",
  points: "",
  count: "",
  date: "",
};

/**
 * Writes a number with its unit, as every output format does: `29.6k GPU-h`, `$ 171k`, `81 %`, `+3 points`; unknown is an en
 * dash.
 */
export function figureText({ measure, unit, value }: Figure): string {
  if (value === null) return unknownCell;
  if (typeof value === "string") return dayText(value);
  if (measure === "deviation") return deviationText(value);
  if (measure === "coverage") return coverageText(value);
  const isDifference = measure === "change" || measure === "trend";
  const sign = value < 0 ? "−" : isDifference ? "+" : "";
  const text = isDifference && unit === "ratio" ? relativeText(Math.abs(value)) : withUnit(Math.abs(value), unit);
  if (isDifference && (isNothing(text) || text.startsWith("<"))) return "no change";
  return isNothing(text) ? text : `${sign}${text}`;
}

/**
 * Writes a number without its unit, for columns whose heading has the unit. Deviations, which are written in words, keep it.
 */
export function bareText(figure: Figure): string {
  const { unit } = figure;
  if (typeof unit !== "string" || figure.measure === "deviation") return figureText(figure);
  const text = figureText(figure);
  const suffix = suffixes[unit];
  return suffix !== "" && text.endsWith(suffix) ? text.slice(0, -suffix.length) : text;
}

/** Writes a number for a sentence: `unknown` in place of a dash, which would be read as punctuation. */
export function spokenText(figure: Figure): string {
  return figure.value === null ? "unknown" : figureText(figure);
}

const isNothing = (text: string): boolean => /^(?:\S+ )?0(?!\.)(?!\d)/.test(text);

function withUnit(amount: number, unit: Figure["unit"]): string {
  if (typeof unit !== "string") return moneyText(amount, unit);
  if (unit === "s") return duration(amount);
  if (unit === "h") return duration(amount * 3600);
  if (unit === "ratio") return percentText(amount);
  if (unit === "points") return pointsText(amount);
  if (unit === "count") return grouped(amount, 0);
  return `${compactText(amount, unit === "GPUs" || unit === "GPUs/week" ? 100 : 10)}${suffixes[unit]}`;
}

/**
 * Writes an amount in short: `4.2`, `412`, `9,412`, `29.6k`, `1.71M`; `<0.1` for an amount above 0 that would read as 0.
 * Amounts below `wholeFrom` have one decimal.
 */
function compactText(amount: number, wholeFrom: number): string {
  if (amount === 0) return "0";
  if (amount < 0.05) return "<0.1";
  if (amount < wholeFrom - 0.05 && !isWhole(amount)) return amount.toFixed(1);
  return bigText(amount);
}

const isWhole = (amount: number): boolean => Math.abs(amount - Math.round(amount)) < 0.0005;

/** Writes an amount as a whole number, and from 10,000 on as three digits and a letter. */
function bigText(amount: number): string {
  if (Math.round(amount) < 10_000) return grouped(amount, 0);
  const rounded = Number(amount.toPrecision(3));
  const steps: readonly (readonly [number, string])[] = [
    [1e12, "T"],
    [1e9, "G"],
    [1e6, "M"],
    [1e3, "k"],
  ];
  const [step, letter] = steps.find(([from]) => rounded >= from) ?? [1, ""];
  const scaled = rounded / step;
  return `${scaled < 1000 ? scaled.toPrecision(3) : grouped(scaled, 0)}${letter}`;
}

const grouped = (amount: number, digits: number): string =>
  amount.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });

/** Writes an amount of money: `$ 9.50`, `$ 1,320`, `$ 171k`, `EUR 12.30`. */
function moneyText(amount: number, { currency, per }: MoneyUnit): string {
  const sign = currency === "USD" ? "$" : plainText(currency, 16);
  const number = amount === 0 ? "0" : amount < 0.005 ? "<0.01" : amount < 99.995 ? grouped(amount, 2) : bigText(amount);
  return `${sign} ${number}${per === null ? "" : ` a ${per}`}`;
}

/**
 * Writes a ratio as whole percent: `<1 %` for a ratio above 0 that would read as 0 %, and `>99 %` for one below 1 that would
 * read as 100 %.
 */
function percentText(ratio: number): string {
  const whole = Math.round(ratio * 100);
  if (ratio > 0 && whole === 0) return "<1 %";
  return ratio < 1 && whole === 100 ? ">99 %" : `${grouped(whole, 0)} %`;
}

/** Writes a relative difference (0.05 is 5 %). */
function relativeText(part: number): string {
  const percent = part * 100;
  return `${percent < 0.05 ? "0" : percent < 0.95 ? percent.toFixed(1) : bigText(percent)} %`;
}

function pointsText(difference: number): string {
  const points = difference * 100;
  const text = points < 0.05 ? "0" : points < 0.95 ? points.toFixed(1) : grouped(points, 0);
  return `${text} point${text === "1" ? "" : "s"}`;
}

/** Writes a coverage, rounded down, so that time that is not covered does not read as covered. */
function coverageText(ratio: number): string {
  return ratio >= 1 - 1e-9 ? "100 %" : `${(Math.floor(ratio * 1000 + 1e-9) / 10).toFixed(1)} %`;
}

/** Writes a deviation (allocated minus entitled) as who owes whom. */
function deviationText(gpuHours: number): string {
  const text = `${compactText(Math.abs(gpuHours), 10)} GPU-h`;
  if (Math.abs(gpuHours) < 0.05) return "even";
  return gpuHours < 0 ? `is owed ${text}` : `owes ${text}`;
}
