import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { parseAllDocuments } from "yaml";
import { z } from "zod";
import { type Admin, until } from "../kubernetesAdmin.ts";

const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

const definition = z.looseObject({
  metadata: z.looseObject({ name: z.string() }),
  spec: z.looseObject({
    group: z.string(),
    names: z.looseObject({ plural: z.string() }),
    versions: z.array(z.looseObject({ name: z.string(), served: z.boolean() })),
  }),
});

/** Every YAML document of a file or of a folder's files. */
export async function yamlDocuments(path: string): Promise<readonly unknown[]> {
  const isFile = path.endsWith(".yaml");
  const files = isFile ? [path] : (await readdir(path)).map((file) => join(path, file)).sort();
  const texts = await Promise.all(files.map((file) => readFile(file, "utf8")));
  return texts.flatMap((text) => parseAllDocuments(text).map((document): unknown => document.toJS()));
}

/**
 * Creates the CustomResourceDefinitions of a folder and waits until each is served. `conversion` is put into those named
 * in `converted`: projects patch it in with their own tools.
 */
export async function createDefinitions(
  admin: Admin,
  folder: string,
  more: { readonly converted?: readonly string[]; readonly conversion?: object } = {},
): Promise<void> {
  const made = z.array(definition).parse((await yamlDocuments(folder)).filter((document) => document !== null));
  await Promise.all(
    made.map(async ({ metadata, spec, ...rest }) => {
      const conversion = more.converted?.includes(metadata.name) ? { conversion: more.conversion } : {};
      const { creationTimestamp: _, ...named } = metadata;
      const { status: __, ...body } = rest;
      await admin.send("POST", definitions, { ...body, metadata: named, spec: { ...spec, ...conversion } });
      const version = spec.versions.find(({ served }) => served)?.name;
      const collection = `/apis/${spec.group}/${version}/${spec.names.plural}`;
      const isServed = (): Promise<boolean> =>
        admin.names(collection).then(
          () => true,
          (error) => !String(error).includes("answered 404"), // its conversion webhook need not be up yet
        );
      // The large ones take long on a busy machine.
      await until(`${metadata.name} is served`, isServed, 180);
    }),
  );
}
