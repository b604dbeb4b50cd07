// Runs beside each test file.
import { afterAll } from 'vitest';
import { endProcesses } from './child-processes.ts';

afterAll(endProcesses);
