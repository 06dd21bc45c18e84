/**
 * The longest label value, in UTF-16 code units. Label values and namespaces of Kubernetes have at most 63; free text has no
 * limit.
 */
const maxLength = 200;

/** Untrusted text as a label value, which is bounded and valid Unicode. The renderer escapes it. */
export function labelValue(text: string): string {
  return (text.length > maxLength ? text.slice(0, maxLength) : text).toWellFormed();
}
