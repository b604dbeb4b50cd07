// What an execution needs of promises: values are waited for only where one is a promise.

export const isPromise = (value: unknown): value is PromiseLike<unknown> =>
  typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';

export const ignore = (): void => undefined;

/**
 * Marks the promises among values, which are awaited later, as handled: an early rejection must not end
 * the process.
 */
export function guard(values: readonly unknown[]): void {
  for (const value of values) if (isPromise(value)) value.then(undefined, ignore);
}

/** Waits for the members that are promises, and puts each in its place. */
export async function awaitAll(data: Record<string, unknown>): Promise<Record<string, unknown>> {
  const values = await Promise.all(Object.values(data));
  for (const [i, key] of Object.keys(data).entries()) data[key] = values[i];
  return data;
}
