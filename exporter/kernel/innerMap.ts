/** The inner map of a key, made when it is missing. One that is there is not written again: that costs a hash in a hot loop. */
export function innerMap<Key, Inner, Value>(maps: Map<Key, Map<Inner, Value>>, key: Key): Map<Inner, Value> {
  const known = maps.get(key);
  if (known !== undefined) return known;
  const made = new Map<Inner, Value>();
  maps.set(key, made);
  return made;
}
