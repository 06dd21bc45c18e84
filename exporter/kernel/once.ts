/** Returns a function that makes a value when it is first called, and returns the same value from then on. */
export function once<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | null = null;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

/**
 * Returns a function that makes the value of an object, which never changes, when it is first called for the object. The value
 * is kept for as long as the object.
 */
export function oncePer<Key extends object, Value>(make: (key: Key) => Value): (key: Key) => Value {
  const made = new WeakMap<Key, { readonly value: Value }>();
  return (key) => {
    const known = made.get(key) ?? { value: make(key) };
    made.set(key, known);
    return known.value;
  };
}

/** Returns a function that keeps the last value that it made: it makes another one only for another argument. */
export function latest<Argument, Value>(make: (argument: Argument) => Value): (argument: Argument) => Value {
  let last: { readonly argument: Argument; readonly value: Value } | null = null;
  return (argument) => {
    if (last === null || last.argument !== argument) last = { argument, value: make(argument) };
    return last.value;
  };
}
