/** Waits for something, but not longer than this. */
export async function within(milliseconds: number, done: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | null = null;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, milliseconds);
  });
  await Promise.race([done, late]);
  if (timer !== null) clearTimeout(timer);
}
