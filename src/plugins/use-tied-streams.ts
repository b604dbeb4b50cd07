// Ties event streams to their connections, so that a subscription ends when its client has left, also one that had stopped reading.
import type { Plugin } from 'graphql-yoga';
import { tiedResponse } from './tied-response.ts';

export const useTiedStreams = (): Plugin => ({
  onResponse({ response, serverContext, setResponse }) {
    if (/^(text\/event-stream|multipart\/)/.test(response.headers.get('content-type') ?? ''))
      setResponse(tiedResponse(response, serverContext));
  },
});
