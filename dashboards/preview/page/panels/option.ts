type Options = Readonly<Record<string, unknown>>;

/** The object in an option; an empty one when the option is no object. */
export function part(options: Options, name: string): Options {
  const value = options[name];
  return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : {};
}

/** An option that must be one of some words; the first word when it is none of them. */
export function oneOf<Word extends string>(options: Options, name: string, words: readonly [Word, ...Word[]]): Word {
  return words.find((word) => word === options[name]) ?? words[0];
}

export function textOption(options: Options, name: string): string | undefined {
  const value = options[name];
  return typeof value === "string" ? value : undefined;
}

export function numberOption(options: Options, name: string): number | undefined {
  const value = options[name];
  return typeof value === "number" ? value : undefined;
}

export function flag(options: Options, name: string, byDefault: boolean): boolean {
  const value = options[name];
  return typeof value === "boolean" ? value : byDefault;
}

export function texts(options: Options, name: string): readonly string[] {
  const value = options[name];
  return Array.isArray(value) ? value.filter((one) => typeof one === "string") : [];
}
