/**
 * A suffix that Kubernetes generates. Its alphabet has no vowels, and none of 0, 1 and 3 (k8s.io/apimachinery/pkg/util/rand). A
 * suffix of `generateName` has 5 characters, a hash of a pod template up to 10.
 */
const generated = /^[bcdfghjklmnpqrstvwxz2456789]{5,10}$/;
/**
 * A time of start: minutes since the epoch, which a CronJob puts into the names of its Jobs, or seconds since the epoch, as
 * others do.
 */
const timeOfStart = /^\d{8,10}$/;
/** The beginning of a UUID, or of a digest. */
const digest = /^(?=.*\d)[0-9a-f]{8,64}$/;
const ordinal = /^\d+$/;

/**
 * A name without generated suffixes, and without the ordinals after these: `sweep` for `sweep-ttblx-2`, `crawl` for
 * `crawl-29384756`. Names that would have nothing left stay as they are.
 */
export function stemOfName(name: string): string {
  const kept: string[] = [];
  let isAfter = false;
  for (const [i, part] of name.split("-").entries()) {
    const isGenerated = i > 0 && (generated.test(part) || timeOfStart.test(part) || digest.test(part));
    if (isGenerated || (isAfter && ordinal.test(part))) isAfter = true;
    else {
      kept.push(part);
      isAfter = false;
    }
  }
  return kept.join("-") || name;
}

/** `namespace/name` within a text. Nodes, pools and queues have no namespace, and keep their whole names. */
const namespaced = /(?<![\w./-])([a-z0-9](?:[a-z0-9-]*[a-z0-9])?)\/([a-z0-9](?:[a-z0-9.-]*[a-z0-9])?)/g;

/** The text with all namespaced names replaced by their stems. */
export function withoutGeneratedSuffixes(text: string): string {
  return text.replace(namespaced, (_, namespace: string, name: string) => `${namespace}/${stemOfName(name)}`);
}

/** The stems of names, each once, in the order of the names. */
export function stemsOf(names: readonly string[]): readonly string[] {
  return [...new Set(names.map(withoutGeneratedSuffixes))];
}
