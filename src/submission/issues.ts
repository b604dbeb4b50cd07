// Issues and warnings of the checks.

/** A mistake or a likely mistake. */
export interface Issue {
  /** Path in the GraphQL input, dotted. */
  readonly path: string;
  readonly code: string;
  readonly message: string;
  readonly hint: string | null;
}

/** Adds an issue at a path. */
export type AddIssue = (path: string, code: string, message: string, hint?: string) => void;

/** Collects the findings of one item; paths are relative to the item. */
export interface ItemNotes {
  /** Mistakes that the service would refuse. */
  readonly wrong: AddIssue;
  /** What it accepts and is probably not intended. */
  readonly odd: AddIssue;
}

/** Largest number of entries in one list: an input of 16 MiB can have a million mistakes. */
export const MAX_NOTES = 1000;

const MORE: Issue = {
  path: '',
  code: 'MORE',
  message: `There are more than ${MAX_NOTES}.`,
  hint: 'Mend these first.',
};

/** Creates the function that adds to a list; `prefix` stands before every path. */
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
