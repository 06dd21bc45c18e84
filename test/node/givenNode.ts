import { z } from "zod";
import { RealNode } from "./realNode.ts";

/** The environment variable in which main.ts hands the node to the test files. */
export const nodeVariable = "FAIRLEAD_TEST_NODE";

const givenSchema = z.object({
  place: z.object({ folder: z.string(), kube: z.string(), programs: z.string(), helm: z.string(), owner: z.number() }),
  hasOlderImage: z.boolean(),
});

/** The node that runs, for a test file. */
export function givenNode(): { readonly node: RealNode; readonly hasOlderImage: boolean } {
  const given = process.env[nodeVariable];
  if (given === undefined) throw new Error("no node runs. Next step: start these tests with `npm run test:node`");
  const { place, hasOlderImage } = givenSchema.parse(JSON.parse(given));
  return { node: new RealNode(place), hasOlderImage };
}
