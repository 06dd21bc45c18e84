import type { z } from "zod";
import { type ConfigError, type ConfigResult, formatPath } from "./configError.ts";
import { issueText } from "./issueText.ts";

/** Checks what a file says against a schema; all errors at once, in the order of the schema. */
export function checkValue<Schema extends z.ZodType>(schema: Schema, data: unknown): ConfigResult<z.output<Schema>> {
  const result = schema.safeParse(data, { error: issueText });
  return result.success
    ? { ok: true, value: result.data }
    : { ok: false, errors: result.error.issues.flatMap(toErrors) };
}

function toErrors(issue: z.core.$ZodIssue): ConfigError[] {
  if (issue.code !== "unrecognized_keys") return [{ path: formatPath(issue.path), message: issue.message }];
  const messages = issue.message.split("\n");
  return issue.keys.map((key, index) => ({
    path: formatPath([...issue.path, key]),
    message: messages[index] ?? "unknown setting",
  }));
}
