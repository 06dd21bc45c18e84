/** The module of a thread beside this one, which is TypeScript in the sources and JavaScript in `dist/`. */
export function threadFile(name: string): URL {
  return new URL(`./${name}${import.meta.url.endsWith(".ts") ? ".ts" : ".js"}`, import.meta.url);
}
