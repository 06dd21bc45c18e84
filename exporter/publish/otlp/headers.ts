/** Characters that a header's name may have (RFC 9110, section 5.6.2). */
const headerName = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const headerValue = /^[\t\x20-\x7e]*$/;

/**
 * Headers of a request: those of the configuration, and those of its file, which has one `Name: value` in a line and is
 * read for each request, so that a rotated secret is picked up. Rejects, without the file's text, when a line is none.
 */
export async function readHeaders(
  fixed: Readonly<Record<string, string>>,
  file: string | null,
  readTextFile: (path: string) => Promise<string>,
): Promise<ReadonlyMap<string, string>> {
  const headers = new Map(Object.entries(fixed).map(([name, value]) => [name.toLowerCase(), value] as const));
  if (file === null) return headers;
  const lines = (await readTextFile(file)).split(/\r?\n/);
  for (const [index, line] of lines.entries()) {
    if (line.trim() === "" || line.startsWith("#")) continue;
    const colon = line.indexOf(":");
    const name = line.slice(0, Math.max(0, colon)).trim();
    if (!headerName.test(name) || !headerValue.test(line))
      throw new Error(`line ${index + 1} of ${file} is no "Name: value"`);
    headers.set(name.toLowerCase(), line.slice(colon + 1).trim());
  }
  return headers;
}
