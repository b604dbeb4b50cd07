// Parses times as the service writes them.

/** A time of day with its zone behind it. */
const WITH_ZONE = /:\d\d(?:\.\d+)? ?(?:[a-z]{1,5}|[+-]\d\d(?::?\d\d)?)$/i;

/** No way to write a time is longer. */
const MAX_CHARACTERS = 64;

/** A time of the service, UTC without a zone. @returns null when it is missing or unreadable */
export function parseTime(text: string | null | undefined): Date | null {
  const trimmed = text?.trim() ?? '';
  if (trimmed === '' || trimmed.length > MAX_CHARACTERS) return null;
  // PostgreSQL writes whole hours alone, which a Date does not take.
  const zoned = WITH_ZONE.test(trimmed) ? trimmed.replace(/[+-]\d\d$/, '$&:00') : `${trimmed}Z`;
  const date = new Date(zoned);
  return Number.isNaN(date.getTime()) ? null : date;
}
