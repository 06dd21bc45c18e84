import { type Config, configSchema } from "./schema.ts";

/** The configuration of an empty file. */
export const defaultConfig: Config = configSchema.parse({});
