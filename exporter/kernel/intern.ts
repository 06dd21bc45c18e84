/**
 * Returns one shared copy per distinct text, so that a name which is in 100,000 objects is kept once.
 * The pool stops growing at `limit` distinct texts (text from a cluster is unbounded); beyond it, texts pass through.
 */
export function createInterner(limit = 1_000_000): (text: string) => string {
  const pool = new Map<string, string>();
  return (text) => {
    const known = pool.get(text);
    if (known !== undefined) return known;
    if (pool.size < limit) pool.set(text, text);
    return text;
  };
}
