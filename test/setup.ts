// Runs beside each test file.
import { afterAll } from 'vitest';
import { endProcesses } from './child-processes.ts';

// graphql as images run it. Otherwise it looks for copies of itself at every check of a type, which
// takes a tenth of the time of all tests.
const { NODE_ENV } = process.env;
process.env.NODE_ENV = 'production';
await import('graphql');
process.env.NODE_ENV = NODE_ENV;

afterAll(endProcesses);
