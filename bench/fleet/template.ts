/** Bytes with places for texts of fixed widths, so that writing an object takes one copy and a few overwrites. */
export interface Template {
  readonly bytes: Buffer;
  /** The offsets of the places of each field. */
  readonly places: ReadonlyMap<string, readonly number[]>;
  readonly widths: Readonly<Record<string, number>>;
}

/** A marker for the source of a template, which is replaced by a field of a fixed width: `~podName~~~~`. */
export function marker(name: string, width: number): string {
  if (name.length + 2 > width) throw new Error(`field ${name} is narrower than its marker`);
  return `~${name}`.padEnd(width, "~");
}

/** Makes a template: finds the markers of the named fields (with their widths) in encoded bytes. */
export function createTemplate(bytes: Buffer, widths: Readonly<Record<string, number>>): Template {
  const places = new Map<string, readonly number[]>();
  for (const [name, width] of Object.entries(widths)) {
    const wanted = Buffer.from(marker(name, width), "latin1");
    const found: number[] = [];
    for (let at = bytes.indexOf(wanted); at !== -1; at = bytes.indexOf(wanted, at + width)) found.push(at);
    places.set(name, found);
  }
  return { bytes, places, widths };
}

/** Writes the template with these values at an offset of `target`. Returns the offset after it. */
export function writeTemplate(
  template: Template,
  values: Readonly<Record<string, string>>,
  target: Buffer,
  at: number,
): number {
  target.set(template.bytes, at);
  for (const [name, places] of template.places) {
    const value = values[name];
    if (value === undefined) throw new Error(`template field ${name} has no value`);
    if (places.length > 0 && value.length !== template.widths[name])
      throw new Error(`${name} is not as wide as its field`);
    for (const place of places) target.write(value, at + place, "latin1");
  }
  return at + template.bytes.length;
}
