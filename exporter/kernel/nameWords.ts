const named = 3;

/** Names as a part of a sentence; those beyond the third are only counted. */
export function nameWords(names: readonly string[]): string {
  if (names.length <= named)
    return names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
  return `${names.slice(0, named).join(", ")} and ${names.length - named} more`;
}
