// The two ways in which an answer can fall short, by the gateway's rules: what failed is an error
// at its path while the rest of the query still answers; what does not exist is no error, and pages
// say so in their own words.
import type { CombinedError } from 'urql';

/** Tells what failed, where, and whether to try again. Shown beside the data, not instead of it. */
export function Failures({ error }: { error: CombinedError | undefined }) {
  if (error === undefined) return null;
  return (
    <div className="failures" role="alert">
      <ul>
        {error.networkError !== undefined && (
          <li>The gateway cannot be reached: {error.networkError.message}</li>
        )}
        {error.graphQLErrors.map(({ message, path, extensions }) => (
          <li key={`${path?.join('.')} ${message}`}>
            {path !== undefined && <code>{path.join('.')}</code>} {message}
            {extensions.retryable === true && ' Trying again may help.'}
          </li>
        ))}
      </ul>
    </div>
  );
}

/** A message about an identifier without its place in the query, which the page does not show. */
export const withoutPlace = (message: string): string =>
  message.replace(/^`ids\[\d+\]` \(\d+ characters\) /, 'It ');

/** Why a mutation or a look-up was not done: an ordinary answer that says what to do next. */
export function Problem({ message, hint }: { message: string; hint: string | null }) {
  return (
    <p className="problem" role="alert">
      <strong>{withoutPlace(message)}</strong> {hint}
    </p>
  );
}

export const Loading = ({ what }: { what: string }) => (
  <p className="loading" aria-busy="true" role="status">
    {what} …
  </p>
);
