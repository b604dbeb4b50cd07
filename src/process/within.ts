// Waits for something that may never come. It knows nothing of what.

/** Waits for `work`, at most so long; `late` is told when it took longer. */
export async function within(milliseconds: number, work: Promise<unknown>, late: () => void): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<void>((resolve) => {
    timer = setTimeout(() => {
      late();
      resolve();
    }, milliseconds);
  });
  await Promise.race([work, over]);
  clearTimeout(timer);
}
