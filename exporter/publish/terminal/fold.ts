/** Folds a line at blanks so that it fits 100 columns. */
export function fold(line: string, indent: string): readonly string[] {
  const lines: string[] = [];
  let rest = line;
  while (rest.length > 100) {
    const at = rest.lastIndexOf(" ", 100);
    const cut = at > indent.length + 10 ? at : 100;
    lines.push(rest.slice(0, cut).trimEnd());
    rest = `${indent}${rest.slice(cut).trimStart()}`;
  }
  return [...lines, rest];
}
