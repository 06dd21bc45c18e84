/** Longest label value, in UTF-16 code units: Kubernetes label values have 63, namespaces 63, free text has no end. */
const maxLength = 200;

/** Untrusted text as a label value: bounded and valid Unicode. Escaping is the renderer's work. */
export function labelValue(text: string): string {
  return (text.length > maxLength ? text.slice(0, maxLength) : text).toWellFormed();
}
