/**
 * Converts the times of records, microseconds in the store and over HTTP, to ISO 8601 for the CLI's output.
 * T1. Values that authors, models and users wrote are not converted, whatever their fields are called.
 */

/** T1: fields whose contents are written by authors, models or users. */
const FOREIGN = new Set([
  'answer',
  'args',
  'arguments',
  'content',
  'context',
  'data',
  'input',
  'inputs',
  'knowledge',
  'metadata',
  'output',
  'payload',
  'result',
  'spec',
  'value',
]);
const TIME = /^at$|[a-z]At$|_at$/;
/** Microseconds in 2001 and 2286: no other number in a record is as large. */
const [EARLIEST, LATEST] = [1e15, 1e16];

export function withIsoTimes(value: unknown, key = ''): unknown {
  if (typeof value === 'number')
    return TIME.test(key) && value >= EARLIEST && value < LATEST ? toIso(value) : value;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((each) => withIsoTimes(each, key));
  // The data of an event is in our own format.
  const isEvent = 'seq' in value && 'type' in value;
  const isOurs = (name: string) => !FOREIGN.has(name) || (isEvent && name === 'data');
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [name, isOurs(name) ? withIsoTimes(each, name) : each]),
  );
}

/** Formats all six digits of the microseconds, because times also define the order of records. */
export function toIso(microseconds: number): string {
  const whole = Math.floor(microseconds);
  return `${new Date(whole / 1000).toISOString().slice(0, 19)}.${String(whole % 1_000_000).padStart(6, '0')}Z`;
}
