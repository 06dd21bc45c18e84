/** The allowed name that a mistyped one most likely means; `null` if none is near. */
export function nearestName(found: string, allowed: readonly string[]): string | null {
  let best: string | null = null;
  let bestDistance = Math.max(1, Math.floor(found.length / 3)) + 1;
  for (const name of allowed) {
    const distance = editDistance(spelling(found), spelling(name));
    if (distance < bestDistance) {
      best = name;
      bestDistance = distance;
    }
  }
  return best;
}

/** The letters of a name, so that `max_age_seconds` and `max-age-seconds` are near to `maxAgeSeconds`. */
function spelling(name: string): string {
  return name.slice(0, 100).replaceAll(/[-_]/g, "").toLowerCase();
}

/** The Levenshtein distance of two texts. */
function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const replaced = (previous[column - 1] ?? 0) + (a[row - 1] === b[column - 1] ? 0 : 1);
      current.push(Math.min(replaced, (previous[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1));
    }
    previous = current;
  }
  return previous[b.length] ?? 0;
}
