// The caller's token and the GraphQL client that sends it. The token lives as long as the browser
// tab, and travels in a header only.
import { createContext, type ReactNode, useContext, useMemo, useState } from 'react';
import { Client, cacheExchange, fetchExchange, Provider } from 'urql';

interface Session {
  token: string;
  setToken(token: string): void;
}

const SessionContext = createContext<Session>({ token: '', setToken: () => {} });
export const useSession = (): Session => useContext(SessionContext);

export const headersFor = (token: string): Record<string, string> =>
  token === '' ? {} : { authorization: `Bearer ${token}` };

export function SessionProvider({ children }: { children: ReactNode }) {
  const [token, setState] = useState(() => sessionStorage.getItem('token') ?? '');
  const session: Session = {
    token,
    setToken(next) {
      sessionStorage.setItem('token', next);
      setState(next);
    },
  };
  // A new client for a new token: what one caller may read must not stay in the cache for the next.
  const client = useMemo(
    () =>
      new Client({
        url: '/graphql',
        exchanges: [cacheExchange, fetchExchange],
        fetchOptions: { headers: headersFor(token) },
        // Subscriptions come over the same address as Server-Sent Events: no second transport, no
        // WebSocket.
        fetchSubscriptions: true,
        // Never GET: an unpublished sequence does not belong into an address, and so into
        // logs.
        preferGetMethod: false,
      }),
    [token],
  );
  return (
    <SessionContext value={session}>
      <Provider value={client}>{children}</Provider>
    </SessionContext>
  );
}
