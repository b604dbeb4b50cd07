// Runs beside each test file.
import { afterAll } from 'vitest';
import { DEFAULT_LIMITS } from '../src/config/limits.ts';
import { endProcesses } from './child-processes.ts';

// graphql as images run it. Otherwise it looks for copies of itself at every check of a type, which
// takes a tenth of the time of all tests.
const { NODE_ENV } = process.env;
process.env.NODE_ENV = 'production';
await import('graphql');
process.env.NODE_ENV = NODE_ENV;

afterAll(endProcesses);

// Machines of tests are shared: how late the loop is says nothing of a gateway. Tests of load
// shedding set a limit of their own.
Object.assign(DEFAULT_LIMITS, { eventLoopDelayMs: 0 });
