/** Values of a family on a page of metrics by one of its labels. Where several samples have it, the last counts. */
export function sampleValues(page: string, family: string, label: string): ReadonlyMap<string, number> {
  const values = new Map<string, number>();
  for (const line of page.split("\n")) {
    if (!line.startsWith(`${family}{`)) continue;
    const key = new RegExp(`[{,]${label}="([^"]*)"`).exec(line)?.[1];
    const value = /\} (\S+)$/.exec(line)?.[1];
    if (key !== undefined && value !== undefined) values.set(key, Number(value));
  }
  return values;
}
