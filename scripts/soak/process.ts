// Reads a process's figures from the system: memory now and at its peak, open descriptors. Linux
// only.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';

const readStatus = (pid: number, name: string): number => {
  const text = readFileSync(`/proc/${pid}/status`, 'utf8');
  const line = text.split('\n').find((one) => one.startsWith(`${name}:`)) ?? '';
  return Number.parseInt(line.slice(name.length + 1), 10) * 1024;
};

/** Bytes of a process in memory. */
export const residentBytes = (pid: number): number => readStatus(pid, 'VmRSS');
/** The most that it had in memory since `forgetPeak`. */
export const peakBytes = (pid: number): number => readStatus(pid, 'VmHWM');
/** Begins a new measurement of the peak. */
export const forgetPeak = (pid: number): void => writeFileSync(`/proc/${pid}/clear_refs`, '5');
/** Open files and sockets. */
export const descriptors = (pid: number): number => readdirSync(`/proc/${pid}/fd`).length;
