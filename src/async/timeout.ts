// Waits for a promise for a limited time. The work itself is not stopped.

/** The result of `work`; where that takes longer, what `onTimeout` gives or throws. */
export async function withTimeout<T, R = T>(
  work: Promise<T>,
  milliseconds: number,
  onTimeout: () => R,
): Promise<T | R> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<R>((resolve, reject) => {
    timer = setTimeout(() => {
      try {
        resolve(onTimeout());
      } catch (error) {
        reject(error);
      }
    }, milliseconds);
  });
  try {
    return await Promise.race([work, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
