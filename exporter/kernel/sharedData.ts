/** Values with longer texts than this are passed through: they would fill the pool without use. */
const maxKeyChars = 4096;

/**
 * Returns one shared object for plain data of equal content, so that what is in 100,000 objects is kept once. A pool
 * with `limit` values is emptied before another comes in: text from a cluster is unbounded, and what is current fills
 * it anew. Values must not be changed afterwards.
 */
export function createDataSharer<Value>(limit = 4096): (value: Value) => Value {
  const pool = new Map<string, Value>();
  return (value) => {
    const key = JSON.stringify(value);
    const known = pool.get(key);
    if (known !== undefined) return known;
    if (key.length > maxKeyChars) return value;
    if (pool.size >= limit) pool.clear();
    pool.set(key, value);
    return value;
  };
}
