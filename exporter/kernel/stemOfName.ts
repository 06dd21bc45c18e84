/**
 * The alphabet from which Kubernetes makes name suffixes (k8s.io/apimachinery/pkg/util/rand: no vowels, none of 0, 1 and 3).
 * A suffix of `generateName` has 5 characters, a hash of a pod template up to 10.
 */
const generated = /^[bcdfghjklmnpqrstvwxz2456789]{5,10}$/;
/** Minutes since the epoch, by which a CronJob names its Jobs; seconds since the epoch, by which others do. */
const timeOfStart = /^\d{8,10}$/;
/** The beginning of a UUID, or of a digest. */
const digest = /^(?=.*\d)[0-9a-f]{8,64}$/;
const ordinal = /^\d+$/;

/**
 * A name without what someone's machine put behind it, and without the numbers that count what follows: `sweep` of
 * `sweep-ttblx-2`, `crawl` of `crawl-29384756`. Names that would have nothing left stay as they are.
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

/** `namespace/name` in a text. Nodes, pools and queues have no namespace, and keep their whole names. */
const namespaced = /(?<![\w./-])([a-z0-9](?:[a-z0-9-]*[a-z0-9])?)\/([a-z0-9](?:[a-z0-9.-]*[a-z0-9])?)/g;

/** A text in which no namespaced name has a generated suffix. */
export function withoutGeneratedSuffixes(text: string): string {
  return text.replace(namespaced, (_, namespace: string, name: string) => `${namespace}/${stemOfName(name)}`);
}

/** The stems of names, each once, in their order. */
export function stemsOf(names: readonly string[]): readonly string[] {
  return [...new Set(names.map(withoutGeneratedSuffixes))];
}
