/** The longest text of a value that is shared; longer ones would fill the pool without use. */
const maxKeyChars = 4096;

/**
 * Returns one shared object for plain data of equal content, so that what 100,000 objects contain is kept once. A pool with
 * `limit` values is emptied before another is added: text from a cluster is unbounded, and current values fill the pool again.
 * Values must not be changed afterwards.
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
