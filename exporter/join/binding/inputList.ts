/** What something was made from, in a fixed order: compared by identity, so that it is made anew when one of them changes. */
export interface InputList {
  values: unknown[];
  /** Where the next input is. */
  next: number;
  isSame: boolean;
}

/** A list that nothing was made from yet: it is not the same as any. */
export function createInputList(): InputList {
  return { values: [], next: 0, isSame: false };
}

/** Begins to go through the inputs once more. */
export function startInputs(list: InputList): void {
  list.next = 0;
  list.isSame = true;
}

/** Takes the next input, and remembers it in place of the one before. */
export function takeInput(list: InputList, value: unknown): void {
  if (list.next >= list.values.length || list.values[list.next] !== value) {
    list.values[list.next] = value;
    list.isSame = false;
  }
  list.next += 1;
}

/** Whether all inputs are those of the last time. */
export function endInputs(list: InputList): boolean {
  if (list.next !== list.values.length) {
    list.values.length = list.next;
    list.isSame = false;
  }
  // A list that was filled one by one has room to spare; there is one for each node.
  if (!list.isSame) list.values = list.values.slice();
  return list.isSame;
}
