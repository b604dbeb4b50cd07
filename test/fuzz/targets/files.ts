// Routes of files, with any segments and headers: never an answer that blames us.
import fc from 'fast-check';
import { AUTH, HASH, never, type Target, text } from '../target.ts';

export const files: Target = ({ gateway }) => {
  const segment = fc.oneof(
    fc.constantFrom(
      HASH,
      'plddt',
      'pct_characterized',
      '..',
      '%2e%2e',
      '%00',
      '%ff',
      'structure.cif',
      'x-00000',
    ),
    text.map(encodeURIComponent.bind(undefined)),
    text,
  );
  const shape = fc.constantFrom(
    (a: string, b: string) => `/thumbnails/${a}/${b}.png`,
    (a: string, b: string) => `/structures/${a}.${b}`,
    (a: string) => `/structures/${a}.pdb`,
    (a: string, b: string) => `/tasks/${a}/${b}`,
    (a: string) => `/tasks/${a}/result.json`,
    (a: string, b: string) => `/bulk/${a}/${b}.zip`,
    (a: string, b: string) => `/export.tsv?columns=${a},${b}`,
    (a: string, b: string) => `/export.tsv?ids=${a},${b}`,
    (a: string, b: string) => `/${a}/${b}`,
    (a: string) => `/schema/${a}`,
  );
  const header = fc.tuple(
    fc.constantFrom(
      'range',
      'if-none-match',
      'if-range',
      'accept',
      'traceparent',
      'x-request-id',
      'origin',
      'if-modified-since',
    ),
    fc.oneof(
      fc.constantFrom('bytes=0-', 'bytes=9-1', 'bytes=-0', '*', 'W/"x"', 'null', '00-0-0-0'),
      fc.string(),
    ),
  );
  const method = fc.constantFrom('GET', 'HEAD', 'POST', 'DELETE', 'OPTIONS');
  return fc.asyncProperty(
    shape,
    segment,
    segment,
    fc.array(header, { maxLength: 3 }),
    method,
    async (path, one, two, headers, verb) => {
      let request: Request;
      try {
        const all = new Headers([...headers.map(([name, value]): [string, string] => [name, value])]);
        all.set('authorization', AUTH.authorization);
        request = new Request(`http://gateway.test${path(one, two)}`, { method: verb, headers: all });
      } catch {
        // No client can send that.
        return;
      }
      const answer = await gateway.fetch(request);
      await answer.arrayBuffer();
      if (answer.status >= 500)
        never('an answer that blames us', [verb, request.url, headers, answer.status]);
    },
  );
};
