import { readFileSync } from "node:fs";
import { parseAllDocuments } from "yaml";
import { z } from "zod";

/** The folders of deploy/examples that hold several clusters. */
export type Backend = "thanos" | "mimir" | "victoria-metrics";

/** An example file, with some of its texts exchanged wherever they are; fails when it does not have one of them. */
export function exampleWith(backend: Backend, name: string, changes: Readonly<Record<string, string>>): string {
  const text = readFileSync(new URL(`../../deploy/examples/${backend}/${name}`, import.meta.url), "utf8");
  return exchanged(text, changes, `${backend}/${name}`);
}

/** The arguments of one container of an example's manifests, exchanged in the same way. */
export function argumentsOf(
  backend: Backend,
  name: string,
  container: string,
  changes: Readonly<Record<string, string>>,
): readonly string[] {
  const containers = parseAllDocuments(exampleWith(backend, name, {}), { merge: true }).flatMap((document) => {
    const found = workload.safeParse(document.toJS());
    return found.success ? found.data.spec.template.spec.containers : [];
  });
  const args = containers.find((one) => one.name === container)?.args;
  if (args === undefined) throw new Error(`${backend}/${name} has no container ${container}`);
  return exchanged(args.join("\n"), changes, `${backend}/${name} ${container}`).split("\n");
}

const workload = z.object({
  spec: z.object({
    template: z.object({
      spec: z.object({ containers: z.array(z.object({ name: z.string(), args: z.array(z.string()) })) }),
    }),
  }),
});

function exchanged(text: string, changes: Readonly<Record<string, string>>, where: string): string {
  return Object.entries(changes).reduce((changed, [from, to]) => {
    if (!changed.includes(from)) throw new Error(`${where} does not have ${from}`);
    return changed.replaceAll(from, to);
  }, text);
}
