import { formatPath } from "../../exporter/config/configError.ts";
import { parseJson } from "../../exporter/kernel/parseJson.ts";
import { type Review, reviewSchema, reviewVersion } from "../document/review.ts";

/** The largest file that is read. A review of 13 weeks is far below 1 MB as a page; its JSON may have several MB. */
export const maxReviewBytes = 64 * 1024 * 1024;
const maxErrors = 20;

/** Something in a file that is no part of a review. */
export interface ReviewError {
  /** Where it is: `teams[3].allocated`; empty: the whole text. */
  readonly path: string;
  readonly found: string;
  readonly expected: string;
}

export type ParsedReview =
  | { readonly ok: true; readonly review: Review }
  | { readonly ok: false; readonly errors: readonly ReviewError[] };

/** Reads a review that was written as JSON. Never throws. */
export function parseReview(text: string): ParsedReview {
  if (Buffer.byteLength(text) > maxReviewBytes)
    return failed("", `${Buffer.byteLength(text)} bytes`, `at most ${maxReviewBytes} bytes`);
  const value = parseJson(text);
  if (value === undefined) return failed("", "text that is no JSON", "a review written with --format json");
  if (typeof value !== "object" || value === null || Array.isArray(value))
    return failed("", shown(value), "a review written with --format json");
  const version: unknown = "schemaVersion" in value ? value.schemaVersion : undefined;
  if (version !== reviewVersion)
    return failed(
      "schemaVersion",
      shown(version),
      `${reviewVersion}: write the review again with this version of Fairlead`,
    );
  const parsed = reviewSchema.safeParse(value);
  if (parsed.success) return { ok: true, review: parsed.data };
  const errors = parsed.error.issues.slice(0, maxErrors).map(({ path, message }) => ({
    path: formatPath(path),
    found: shown(at(value, path)),
    expected: message,
  }));
  return { ok: false, errors };
}

const failed = (path: string, found: string, expected: string): ParsedReview => ({
  ok: false,
  errors: [{ path, found, expected }],
});

/** The value at a path; `undefined` where there is none. */
function at(value: unknown, path: readonly PropertyKey[]): unknown {
  let found: unknown = value;
  for (const key of path) {
    if (typeof found !== "object" || found === null || !Object.hasOwn(found, key)) return undefined;
    found = Reflect.get(found, key);
  }
  return found;
}

function shown(value: unknown): string {
  if (value === undefined) return "nothing";
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (typeof value === "object" && value !== null) return "an object";
  const text = JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 59)}…` : text;
}
