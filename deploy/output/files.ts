/** The contents of files to write, by their path below a folder. */
export type Files = Readonly<Record<string, string>>;

/** The same files below a folder. */
export function below(folder: string, files: Files): Files {
  return Object.fromEntries(Object.entries(files).map(([name, text]) => [`${folder}/${name}`, text]));
}
