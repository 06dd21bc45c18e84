import type { Config } from "../config/schema.ts";

/** Settings `advice` of the configuration. */
export type AdviceSettings = Config["advice"];
