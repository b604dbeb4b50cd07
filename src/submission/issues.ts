// How the checks say what they found.

/** One thing that is wrong, or allowed and likely wrong. */
export interface Issue {
  /** Path in the GraphQL input, dotted. */
  readonly path: string;
  readonly code: string;
  readonly message: string;
  readonly hint: string | null;
}

/** Notes something about the place that a check looks at. */
export type AddIssue = (path: string, code: string, message: string, hint?: string) => void;

/** Where the rules of one item put what they find; paths are relative to the item. */
export interface ItemNotes {
  /** What the service would refuse. */
  readonly wrong: AddIssue;
  /** What it takes, and is likely not meant. */
  readonly odd: AddIssue;
}

/** Entries of one list: an input of 16 MiB can have a million faults, which help nobody. */
export const MAX_NOTES = 1000;

const MORE: Issue = {
  path: '',
  code: 'MORE',
  message: `There are more than ${MAX_NOTES}.`,
  hint: 'Mend these first.',
};

/** A note taker for one list; `prefix` stands before every path. */
export const addIssue =
  (list: Issue[], prefix = ''): AddIssue =>
  (path, code, message, hint) => {
    if (list.length > MAX_NOTES) return;
    list.push(
      list.length === MAX_NOTES
        ? MORE
        : {
            path: prefix === '' || path === '' ? prefix + path : `${prefix}.${path}`,
            code,
            message,
            hint: hint ?? null,
          },
    );
  };
