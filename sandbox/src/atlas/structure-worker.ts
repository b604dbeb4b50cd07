// Entry of a thread that makes structures for the Atlas.
import { parentPort } from 'node:worker_threads';
import { makeStructure, type StructureOrder } from './structure-making.ts';

parentPort?.on('message', (order: StructureOrder) => {
  const made = new Uint8Array(makeStructure(order));
  parentPort?.postMessage(made, [made.buffer]);
});
parentPort?.postMessage('ready');
