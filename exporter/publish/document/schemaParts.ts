import { z } from "zod";

/** Parts that the schemas of several records share. */
export const gpus = z.number().min(0).describe("Physical GPUs.");
export const ratio = z.number().min(0).nullable();
export const instant = z.iso.datetime().describe("UTC.");
export const seconds = z.number().min(0);
