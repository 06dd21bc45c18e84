/** One thing that is wrong in a configuration file. */
export interface ConfigError {
  /** Path of the setting (`teams[1].from`); empty for the file as a whole. */
  readonly path: string;
  /** What was found and what is allowed, in one line. */
  readonly message: string;
}

/** A configuration, or everything that is wrong with it. */
export type ConfigResult<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly errors: readonly ConfigError[] };

/**
 * The errors of a file in the form for people: each with its path, what was found and what is allowed, and at the end the next
 * step (`nextStep` replaces the usual one, for files that check-config does not read).
 */
export function formatConfigErrors(
  file: string,
  errors: readonly ConfigError[],
  nextStep = `Check with: fairlead check-config ${file}`,
): string {
  const count = errors.length === 1 ? "1 error" : `${errors.length} errors`;
  const lines = errors.map(({ path, message }) => (path === "" ? `  ${message}` : `  ${path}: ${message}`));
  return [`fairlead: configuration ${file} has ${count}`, ...lines, `Nothing was started. ${nextStep}`, ""].join("\n");
}

/** A path in the form in which settings are named: `dcgm.targets[0].url`, `gpu.resources["acme.com/half"]`. */
export function formatPath(path: readonly PropertyKey[]): string {
  let text = "";
  for (const part of path) {
    if (typeof part === "number") text += `[${part}]`;
    else if (/^[A-Za-z_][\w-]*$/.test(String(part))) text += text === "" ? String(part) : `.${String(part)}`;
    else text += `[${JSON.stringify(String(part))}]`;
  }
  return text;
}
