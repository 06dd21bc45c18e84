/** Whether two lists have the very same items in the same order. */
export function isSameList(one: readonly unknown[], other: readonly unknown[]): boolean {
  return one === other || (one.length === other.length && one.every((item, i) => item === other[i]));
}
