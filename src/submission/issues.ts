// Issues of a submission: mistakes forbid sending, warnings do not.
import type { IssueCode } from './issue-codes.ts';

export interface Issue {
  /** Path in the GraphQL input, dotted. */
  readonly path: string;
  readonly code: IssueCode;
  readonly message: string;
  readonly hint: string | null;
}

export type AddIssue = (path: string, code: IssueCode, message: string, hint?: string) => void;

/** Collects the findings of one item; paths are relative to the item. */
export interface ItemIssues {
  /** Mistakes that the service would refuse. */
  readonly wrong: AddIssue;
  /** The service accepts it, and it is probably not intended. */
  readonly odd: AddIssue;
}

/** Largest number of entries in one list: an input of 16 MiB can have a million mistakes. */
export const MAX_ISSUES = 1000;

const MORE: Issue = {
  path: '',
  code: 'MORE',
  message: `There are more than ${MAX_ISSUES}.`,
  hint: 'Mend these first.',
};

/** Mistakes and warnings about one list of a chain that are written down. */
const MAX_LIST_ISSUES = 20;

/** Collects the findings about one list. */
export interface ListIssues extends ItemIssues {
  /** Whether it has more mistakes than are written down: the rest need not be read. */
  hasManyMistakes(): boolean;
}

/** Adds the first findings about a list, and then one that there are more. */
function addFirst(add: AddIssue, path: string): { readonly add: AddIssue; isFull(): boolean } {
  let count = 0;
  return {
    add(...issue) {
      count += 1;
      if (count <= MAX_LIST_ISSUES) add(...issue);
      else if (count === MAX_LIST_ISSUES + 1)
        add(path, 'MORE', `There are more than ${MAX_LIST_ISSUES} in this list.`, 'Mend these first.');
    },
    isFull: () => count > MAX_LIST_ISSUES,
  };
}

/** @param path - of the list */
export function createListIssues({ wrong, odd }: ItemIssues, path: string): ListIssues {
  const mistakes = addFirst(wrong, path);
  return { wrong: mistakes.add, odd: addFirst(odd, path).add, hasManyMistakes: mistakes.isFull };
}

/** Creates the function that adds to a list; `prefix` stands before every path. */
export function createAddIssue(list: Issue[], prefix = ''): AddIssue {
  const joinPath = (path: string) => (prefix === '' || path === '' ? prefix + path : `${prefix}.${path}`);
  return (path, code, message, hint) => {
    if (list.length < MAX_ISSUES) list.push({ path: joinPath(path), code, message, hint: hint ?? null });
    else if (list.length === MAX_ISSUES) list.push(MORE);
  };
}
