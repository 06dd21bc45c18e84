const maxDigits = 9;
const zero = 0x30;
const smallM = 0x6d;
const smallI = 0x69;

/**
 * The amount that `parseQuantity` gives of the quantities that nearly all are: whole numbers, thousandths of a CPU, and
 * Ki, Mi or Gi bytes; read without making a text of them. `null` for all others.
 */
export function usualAmount(bytes: Uint8Array, start: number, end: number, decimals: 0 | 3): number | null {
  let at = start;
  let whole = 0;
  for (; at < end; at += 1) {
    const digit = (bytes[at] ?? 0) - zero;
    if (digit < 0 || digit > 9) break;
    whole = whole * 10 + digit;
  }
  if (at === start || at - start > maxDigits) return null;
  const unit = decimals === 3 ? 1000 : 1;
  if (at === end) return whole * unit;
  if (at + 1 === end) return decimals === 3 && bytes[at] === smallM ? whole : null;
  if (at + 2 !== end || bytes[at + 1] !== smallI) return null;
  const amount = whole * binaryFactor(bytes[at] ?? 0) * unit;
  return amount > 0 && Number.isSafeInteger(amount) ? amount : null;
}

/** Of K, M and G; 0 of any other letter. */
function binaryFactor(letter: number): number {
  if (letter === 0x4b) return 2 ** 10;
  if (letter === 0x4d) return 2 ** 20;
  return letter === 0x47 ? 2 ** 30 : 0;
}
