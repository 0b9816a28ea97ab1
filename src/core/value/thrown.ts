/**
 * Reads thrown values safely: code may throw null, a symbol, an object without a prototype, one whose
 * getters throw, or a proxy whose every trap does.
 * - Nothing here throws, and the output is bounded: omitted values are marked as omitted, and a
 *   text is kept whole or not at all, since redaction would not find half a secret.
 */

/** The most causes that are read: they may form a cycle. */
const CAUSES = 5;
/** For a thrown object that is not an error: how much of it is shown. */
const DEPTH = 4;
const MEMBERS = 20;
const VALUES = 100;
const TEXT_CHARS = 1000;
/** The longest message or stack: redacting a longer one would hold up other work. */
const MAX_TEXT_CHARS = 1024 * 1024;

const UNREADABLE = 'A value was thrown that cannot be read.';

/**
 * The text of anything that was thrown, without its stack: an error's message, an object as JSON. Of an error without a
 * message, its name and code, and the message of what has caused it.
 */
export function errorMessage(thrown: unknown): string {
  const message = readField(thrown, 'message');
  if (isText(message)) return omitIfLong(message);
  try {
    if (thrown === undefined || thrown === null || thrown === '')
      return `No reason was given (${thrown === '' ? 'an empty text' : thrown} was thrown).`;
    if (typeof thrown === 'function') return '[function]';
    if (typeof readField(thrown, 'stack') === 'string') return describeSilent(thrown);
    if (isPlain(thrown)) return JSON.stringify(toShown(thrown, { left: VALUES }));
    const text = String(thrown);
    return text.startsWith('[object ') ? describeObject(thrown as object) : omitIfLong(text);
  } catch {
    return UNREADABLE;
  }
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== '';
}

/** An error without a message: Node throws such when each of several addresses has refused a connection. */
function describeSilent(thrown: unknown): string {
  const name = readField(thrown, 'name');
  const code = readField(thrown, 'code');
  const errors = readField(thrown, 'errors');
  const inner = [...(Array.isArray(errors) ? errors.slice(0, CAUSES) : []), ...causesOf(thrown)];
  const reason = inner.map((each) => readField(each, 'message')).find(isText);
  const coded = isText(code) || typeof code === 'number' ? ` (${code})` : '';
  const text = `${isText(name) ? name : 'Error'}${coded}`;
  return omitIfLong(reason === undefined ? text : `${text}: ${reason}`);
}

/** An instance of a class that has no text of its own. */
function describeObject(thrown: object): string {
  const name = readField(readField(thrown, 'constructor'), 'name');
  return `${isText(name) ? `${name} ` : ''}${JSON.stringify(toShown(thrown, { left: VALUES }))}`;
}

/** Returns the stack, followed by those of its causes; undefined if the thrown value has none. */
export function errorStack(thrown: unknown): string | undefined {
  const stack = readField(thrown, 'stack');
  if (typeof stack !== 'string') return undefined;
  const causes = causesOf(thrown).map((cause) => {
    const own = readField(cause, 'stack');
    return `\nCaused by: ${typeof own === 'string' ? omitIfLong(own) : errorMessage(cause)}`;
  });
  return omitIfLong(stack) + causes.join('');
}

/** A text that is too long is left out whole. */
function omitIfLong(text: string): string {
  return text.length > MAX_TEXT_CHARS ? `(a string of ${text.length} characters)` : text;
}

const READ_FIELDS = ['name', 'message', 'code', 'stack', 'cause', 'block', 'status', 'statusCode', 'headers'];

/** Returns the same error if its fields can be read; a substitute if reading one of them throws. */
export function toReadable(thrown: unknown): unknown {
  if ((typeof thrown !== 'object' && typeof thrown !== 'function') || thrown === null) return thrown;
  try {
    for (const field of READ_FIELDS) Reflect.get(thrown, field);
    void (thrown instanceof Error);
    return thrown;
  } catch {
    return new Error(UNREADABLE);
  }
}

export function readField(thrown: unknown, field: string): unknown {
  try {
    return (thrown as Readonly<Record<string, unknown>> | null | undefined)?.[field];
  } catch {
    return undefined;
  }
}

function causesOf(thrown: unknown): unknown[] {
  const causes: unknown[] = [];
  let cause = readField(thrown, 'cause');
  for (; cause !== undefined && cause !== null && causes.length < CAUSES; cause = readField(cause, 'cause')) {
    causes.push(cause);
  }
  return causes;
}

/** True for plain objects of any realm: each realm has its own Object.prototype. */
function isPlain(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value)) return true;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** A copy that JSON can hold, within bounds. */
function toShown(value: unknown, budget: { left: number }, depth = 0): unknown {
  budget.left -= 1;
  if (typeof value === 'string')
    return value.length > TEXT_CHARS ? `(a string of ${value.length} characters)` : value;
  if (typeof value === 'bigint') return `${value}n`;
  if (typeof value === 'symbol' || typeof value === 'function') return `(a ${typeof value})`;
  if (typeof value !== 'object' || value === null) return value ?? null;
  if (depth >= DEPTH || budget.left <= 0) return '(more)';
  const keys = Object.keys(value);
  const shown = keys
    .slice(0, MEMBERS)
    .map((key) => [
      key.slice(0, TEXT_CHARS),
      budget.left > 0 ? toShown(readField(value, key), budget, depth + 1) : '(more)',
    ]);
  if (keys.length > MEMBERS) shown.push(['(more)', keys.length - MEMBERS]);
  // No prototype: a key may be `__proto__`.
  return Array.isArray(value)
    ? shown.map(([, member]) => member)
    : Object.assign(Object.create(null), Object.fromEntries(shown));
}
