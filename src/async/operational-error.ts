/**
 * Says in which state something outside the program is, such as a store that does not answer. The
 * log shows its message only: a stack trace would point at code that is right.
 */
export class OperationalError extends Error {}
