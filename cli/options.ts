import { type Command, InvalidArgumentError, Option } from "commander";

/** `-o, --output <format>`: a table, unless one of the other formats is asked for. */
export const outputOption = (description: string, formats: readonly string[]): Option =>
  new Option("-o, --output <format>", description).choices(formats).default("table");

/** Adds the options with which a running exporter lets a command in (`ExporterFlags`). */
export function withLogin(command: Command): Command {
  return command
    .option("--username <name>", "user of the exporter's web configuration")
    .option("--password-file <file>", "file that holds the user's password")
    .option("--ca-file <file>", "CA certificates that sign the exporter's certificate");
}

/** Collects the values of an option that may be repeated. */
export const collected = (value: string, before: readonly string[]): readonly string[] => [...before, value];

/** Reads a whole number within bounds, which `expected` names to whoever gives another text. */
export function wholeNumber(least: number, most: number, expected: string): (text: string) => number {
  return (text) => {
    const number = /^\d+$/.test(text) && text.length <= `${most}`.length ? Number(text) : Number.NaN;
    if (number >= least && number <= most) return number;
    throw new InvalidArgumentError(`Expected a whole number ${expected}.`);
  };
}
