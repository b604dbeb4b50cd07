// What Status says of a task's result: where it is, or the result itself where the endpoint does not store it.

/** A result: a signed URL, or JSON that stood in the answer. */
export type TaskResult = { readonly url: string } | { readonly json: string };

/** Reads `response` of Status: a signed URL, an inline object or inline text. @returns null when there is none */
export function readResponse(response: unknown): TaskResult | null {
  if (response === null || response === undefined) return null;
  if (typeof response !== 'string') return { json: JSON.stringify(response) };
  const text = response.trim();
  return /^[[{"]/.test(text) || /\s/.test(text) ? { json: text } : { url: text };
}
