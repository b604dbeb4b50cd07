// How the checks say what they found. It must not know any rule.

/** One thing that is wrong, or allowed and likely wrong. */
export interface Issue {
  /** Path in the GraphQL input, dotted. */
  readonly path: string;
  readonly code: string;
  readonly message: string;
  readonly hint: string | null;
}

/** Notes something about the place that a check looks at. */
export type Note = (path: string, code: string, message: string, hint?: string) => void;

/** Where the rules of one item put what they find; paths are relative to the item. */
export interface ItemNotes {
  readonly wrong: Note;
  readonly odd: Note;
}

/** A note taker for one list; `prefix` stands before every path. */
export const noteIn =
  (list: Issue[], prefix = ''): Note =>
  (path, code, message, hint) => {
    list.push({
      path: prefix === '' || path === '' ? prefix + path : `${prefix}.${path}`,
      code,
      message,
      hint: hint ?? null,
    });
  };
