/**
 * Records as the CLI prints them: times, which are microseconds in the store and over HTTP, as ISO 8601.
 * T1. What authors, models and users wrote stays as it is, whatever its fields are called.
 */

/** T1: fields of records whose inside is not ours. */
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
/** From 2001 to 2286: nothing else that is counted is as large. */
const [EARLIEST, LATEST] = [1e15, 1e16];

export function withIsoTimes(value: unknown, key = ''): unknown {
  if (typeof value === 'number')
    return TIME.test(key) && value >= EARLIEST && value < LATEST ? toIso(value) : value;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((each) => withIsoTimes(each, key));
  // What an event tells is ours.
  const isEvent = 'seq' in value && 'type' in value;
  const isOurs = (name: string) => !FOREIGN.has(name) || (isEvent && name === 'data');
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [name, isOurs(name) ? withIsoTimes(each, name) : each]),
  );
}

/** All six digits: times are also what orders. */
export function toIso(microseconds: number): string {
  const whole = Math.floor(microseconds);
  return `${new Date(whole / 1000).toISOString().slice(0, 19)}.${String(whole % 1_000_000).padStart(6, '0')}Z`;
}
