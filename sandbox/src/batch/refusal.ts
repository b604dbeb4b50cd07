// A refusal on its way from where it is decided to the envelope that carries it.

/** The answer of the Batch API when it refuses (spec: BatchError). */
export class Refusal extends Error {
  readonly status: 400 | 401 | 403 | 404 | 409 | 410 | 413 | 422 | 429 | 500;
  readonly headers: Readonly<Record<string, string>>;
  /** Members that stand beside `message`, such as `results_expire_at` of a 410. */
  readonly members: Readonly<Record<string, string>>;

  /** @param message what is wrong and how to correct it */
  constructor(
    status: Refusal['status'],
    message: string,
    {
      headers = {},
      members = {},
    }: { headers?: Record<string, string>; members?: Record<string, string> } = {},
  ) {
    super(message);
    this.status = status;
    this.headers = headers;
    this.members = members;
  }
}
