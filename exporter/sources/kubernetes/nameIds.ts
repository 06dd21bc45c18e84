/** Small numbers for names that many rows share; a number is free again when no row uses it any more. */
export interface NameIds {
  /** The number of a name, used once more. */
  acquire(name: string): number;
  /** One use less. */
  release(id: number): void;
  nameOf(id: number): string;
  /** Upper bound of the numbers in use. */
  readonly limit: number;
}

export function createNameIds(): NameIds {
  const ids = new Map<string, number>();
  const names: string[] = [];
  const uses: number[] = [];
  const free: number[] = [];
  return {
    get limit() {
      return names.length;
    },
    acquire: (name) => {
      let id = ids.get(name);
      if (id === undefined) {
        id = free.pop() ?? names.length;
        ids.set(name, id);
        names[id] = name;
        uses[id] = 0;
      }
      uses[id] = (uses[id] ?? 0) + 1;
      return id;
    },
    release: (id) => {
      const left = (uses[id] ?? 0) - 1;
      uses[id] = left;
      if (left > 0) return;
      ids.delete(names[id] ?? "");
      names[id] = "";
      free.push(id);
    },
    nameOf: (id) => names[id] ?? "",
  };
}
