import { z } from "zod";
import { isRecord } from "../kernel/parseJson.ts";
import { type ConfigError, type ConfigResult, formatPath } from "./configError.ts";
import { nearestName } from "./nearestName.ts";

/** Checks the content of a file against a schema. All errors are returned at once, in the order of the schema. */
export function checkValue<Schema extends z.ZodType>(schema: Schema, data: unknown): ConfigResult<z.output<Schema>> {
  const result = schema.safeParse(data, { error: issueText });
  return result.success
    ? { ok: true, value: result.data }
    : { ok: false, errors: result.error.issues.flatMap(toErrors) };
}

/** An issue as zod passes it to a function that makes its text. */
type RawIssue = z.core.$ZodRawIssue;

/**
 * The text of an issue in the words of the configuration: what was found, and what is allowed. `unrecognized_keys` has one line
 * for each key.
 */
function issueText(issue: RawIssue): string {
  if (issue.code === "unrecognized_keys") {
    return issue.keys.map((key) => unknownSetting(key, allowedKeys(issue.inst))).join("\n");
  }
  if (issue.code === "invalid_union" && issue.discriminator !== undefined) {
    const found = isRecord(issue.input) ? issue.input[issue.discriminator] : issue.input;
    return foundAndExpected(found, oneOf(Array.isArray(issue.options) ? issue.options : []));
  }
  if (issue.code === "invalid_union") {
    const branches = issue.errors.map((errors) => errors[0]?.message.split(", expected ")[1] ?? "another value");
    return foundAndExpected(issue.input, [...new Set(branches)].join(" or "));
  }
  if (issue.code === "invalid_key") return `is not a name that is allowed here: ${issue.issues[0]?.message ?? ""}`;
  return foundAndExpected(issue.input, expectation(issue));
}

function expectation(issue: RawIssue): string {
  switch (issue.code) {
    case "invalid_type":
      return issue.inst instanceof z.ZodURL ? urlWords : (typeWords[issue.expected] ?? issue.expected);
    case "invalid_value":
      return oneOf(issue.values);
    case "too_small":
      return bound("at least", issue.origin, Number(issue.minimum), issue.inclusive !== false);
    case "too_big":
      return bound("at most", issue.origin, Number(issue.maximum), issue.inclusive !== false);
    case "invalid_format":
      if (issue.format === "starts_with" && typeof issue.prefix === "string") {
        return `text that begins with ${JSON.stringify(issue.prefix)}`;
      }
      return issue.format === "url" ? urlWords : `text in the form of ${issue.format}`;
    default:
      return "another value";
  }
}

const urlWords = "a URL that begins with http:// or https://";

const typeWords: Readonly<Record<string, string>> = {
  string: "text",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  array: "a list",
  object: "a map of settings",
  record: "a map of names to values",
};

function bound(words: string, origin: string, limit: number, inclusive: boolean): string {
  if (origin === "string") return `text of ${words} ${limit} ${limit === 1 ? "character" : "characters"}`;
  if (origin === "array") return `${words} ${limit} ${limit === 1 ? "entry" : "entries"}`;
  return inclusive ? `${words} ${limit}` : `${words === "at least" ? "more than" : "less than"} ${limit}`;
}

function oneOf(values: readonly unknown[]): string {
  const texts = values.map((value) => String(value));
  return texts.length === 1 ? (texts[0] ?? "") : `one of ${texts.join(", ")}`;
}

function foundAndExpected(found: unknown, expected: string): string {
  return found === undefined ? `missing, expected ${expected}` : `found ${describeValue(found)}, expected ${expected}`;
}

/** A value in the form for a message: short, and on one line. */
function describeValue(value: unknown): string {
  if (value === null) return "nothing";
  if (typeof value === "string") return JSON.stringify(value.length > 60 ? `${value.slice(0, 57)}...` : value);
  if (Array.isArray(value)) return value.length === 0 ? "an empty list" : "a list";
  if (typeof value === "object") return "a map";
  return value === Number.POSITIVE_INFINITY ? ".inf" : String(value);
}

/** The message for a setting that does not exist, with the one that was probably meant. */
function unknownSetting(key: string, allowed: readonly string[]): string {
  const near = nearestName(key, allowed);
  if (near !== null) return `unknown setting, did you mean "${near}"?`;
  return allowed.length === 0 ? "unknown setting" : `unknown setting, expected one of ${allowed.join(", ")}`;
}

function allowedKeys(schema: unknown): readonly string[] {
  return schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];
}

function toErrors(issue: z.core.$ZodIssue): ConfigError[] {
  if (issue.code !== "unrecognized_keys") return [{ path: formatPath(issue.path), message: issue.message }];
  const messages = issue.message.split("\n");
  return issue.keys.map((key, index) => ({
    path: formatPath([...issue.path, key]),
    message: messages[index] ?? "unknown setting",
  }));
}
