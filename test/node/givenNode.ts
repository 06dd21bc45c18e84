import { z } from "zod";
import { RealNode } from "./realNode.ts";

/** The environment variable in which main.ts hands the nodes to the test files. */
export const nodesVariable = "FAIRLEAD_TEST_NODES";

const placeSchema = z.object({
  folder: z.string(),
  kube: z.string(),
  programs: z.string(),
  helm: z.string(),
  owner: z.number(),
});
const givenSchema = z.object({ beside: placeSchema, alone: placeSchema, hasOlderImage: z.boolean() });

/** What main.ts hands over: the node that tests share, the one that a single test file has for itself, and what they hold. */
export type GivenNodes = z.infer<typeof givenSchema>;

function given(): GivenNodes {
  const text = process.env[nodesVariable];
  if (text === undefined) throw new Error("no node runs. Next step: start these tests with `npm run test:node`");
  return givenSchema.parse(JSON.parse(text));
}

/** A node that runs, for a test file. */
export const givenNode = (which: "beside" | "alone"): RealNode => new RealNode(given()[which]);

/** Whether the nodes hold the image of the older commit. */
export const hasOlderImage = (): boolean => given().hasOlderImage;
