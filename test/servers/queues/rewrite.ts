import { z } from "zod";
import { type Admin, until } from "../kubernetesAdmin.ts";

const anObject = z.looseObject({});

/** Reads an object, changes it and writes it, anew where a controller was faster. `part`: of the path, such as `/status`. */
export async function rewrite<Shape extends z.ZodType<object>>(
  admin: Admin,
  path: string,
  shape: Shape,
  change: (object: z.output<Shape>) => object,
  part = "",
): Promise<void> {
  await until(`${path} is changed`, async () => {
    const changed = anObject.parse(change(shape.parse(await admin.send("GET", path))));
    return await admin.send("PUT", `${path}${part}`, changed).then(
      () => true,
      (error) => {
        if (String(error).includes("answered 409")) return false;
        throw error;
      },
    );
  });
}
