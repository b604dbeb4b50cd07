// Sends bytes to a port, HTTP or not, and reads the answer.
import { connect } from 'node:net';

/** How long a server may think about bytes that could be the beginning of something. */
const PATIENCE_MS = 250;

/** @returns everything that the server wrote until it closed the connection, or has had its time */
export const sendRaw = (port: number, bytes: Uint8Array): Promise<string> =>
  new Promise((resolve, reject) => {
    let text = '';
    const socket = connect(port, '127.0.0.1');
    const timer = setTimeout(() => socket.destroy(), PATIENCE_MS);
    socket.once('connect', () => socket.end(bytes));
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
    });
    // A reset is a way to close. A refused connection is none.
    socket.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNREFUSED') reject(error);
    });
    socket.once('close', () => {
      clearTimeout(timer);
      resolve(text);
    });
  });

/** The status codes of the answers in what a server wrote. */
export const statusesIn = (text: string): number[] =>
  [...text.matchAll(/^HTTP\/1\.[01] (\d{3})/gm)].map(([, status]) => Number(status));
