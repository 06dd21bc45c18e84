import { diag } from "@opentelemetry/api";
import { getNumberFromEnv, getStringFromEnv } from "@opentelemetry/core";
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
} from "@opentelemetry/sdk-trace";

/**
 * The sampler that `OTEL_TRACES_SAMPLER` and `OTEL_TRACES_SAMPLER_ARG` name, by the names of
 * https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/; `null`: the SDK's own, also for a name that
 * nobody knows, which its diagnostics say.
 */
export function samplerFromEnvironment(): Sampler | null {
  const name = getStringFromEnv("OTEL_TRACES_SAMPLER");
  if (name === undefined) return null;
  const isParentBased = name.startsWith("parentbased_");
  const root = rootSampler(isParentBased ? name.slice("parentbased_".length) : name);
  if (root === null) {
    diag.error(`unknown OTEL_TRACES_SAMPLER value "${name}", using the default`);
    return null;
  }
  return isParentBased ? new ParentBasedSampler({ root }) : root;
}

function rootSampler(name: string): Sampler | null {
  if (name === "always_on") return new AlwaysOnSampler();
  if (name === "always_off") return new AlwaysOffSampler();
  return name === "traceidratio" ? new TraceIdRatioBasedSampler(ratio()) : null;
}

/** The part of traces that is kept: all where the environment says nothing, or nothing that is a ratio. */
function ratio(): number {
  const given = getNumberFromEnv("OTEL_TRACES_SAMPLER_ARG") ?? 1;
  if (given >= 0 && given <= 1) return given;
  diag.error(`OTEL_TRACES_SAMPLER_ARG is ${given}, expected a ratio from 0 to 1; using 1`);
  return 1;
}
