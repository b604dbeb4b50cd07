// Descriptions of routes for /openapi.json. Each route describes the paths that it answers.

/** A parameter of a path or a query. */
export interface Parameter {
  readonly description: string;
  readonly example: string;
  readonly schema: object;
}

/** The description of a path. */
export interface RouteDescription {
  readonly summary: string;
  /** Media type of the answer. */
  readonly type: string;
  /**
   * Statuses besides 200, each with its reason; 206 and 503 have the type of the answer, 304 and
   * 416 no body.
   */
  readonly others?: Readonly<Record<number, string>>;
  /** Whether it is of one caller, who has to send a key. */
  readonly isPrivate?: boolean;
  readonly query?: Readonly<Record<string, Parameter>>;
  /** Media types of the body of a POST. */
  readonly body?: Readonly<Record<string, object>>;
}

export const NOT_MODIFIED = { 304: 'The client has it: `If-None-Match`.' };
export const RANGES = { 206: 'The range that was asked for.', 416: 'There is no such range.' };
export const NO_LINK = { 403: 'The link has expired, or its signature is not valid.' };
