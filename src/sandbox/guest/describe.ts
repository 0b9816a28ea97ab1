/**
 * Describes a thrown value by three texts. It may be anything, and reading it may throw again or run user code: it is
 * read once, inside the isolate, and only texts of bounded length leave it.
 */
export interface Described {
  readonly name: string;
  readonly message: string;
  readonly stack: string;
}

const apply = Reflect.apply;
const slice = String.prototype.slice;
const NativeString = String;

export const NOT_AN_ERROR = 'An object that is not an Error was thrown.';

const NAME_LENGTH = 256;
const TEXT_LENGTH = 16_384;

export function describe(thrown: unknown): Described {
  if (typeof thrown !== 'object' || thrown === null) {
    return { name: 'Error', message: truncate(plainText(thrown), TEXT_LENGTH), stack: '' };
  }
  const name = read(thrown, 'name');
  const message = read(thrown, 'message');
  if (name === undefined && message === undefined) {
    return { name: 'Error', message: NOT_AN_ERROR, stack: '' };
  }
  return {
    name: truncate(name ?? 'Error', NAME_LENGTH),
    message: truncate(message ?? '', TEXT_LENGTH),
    stack: truncate(read(thrown, 'stack') ?? '', TEXT_LENGTH),
  };
}

function plainText(value: unknown): string {
  if (value === undefined || value === null || value === '')
    return `No reason was given (${value === '' ? 'an empty text' : value} was thrown).`;
  if (typeof value === 'string') return value;
  // A function's own `toString` may be user code; its type says enough.
  if (typeof value === 'function') return 'A function';
  return NativeString(value);
}

function read(from: object, key: string): string | undefined {
  try {
    const value: unknown = (from as Record<string, unknown>)[key];
    return typeof value === 'string' ? value : undefined;
  } catch {
    return undefined;
  }
}

function truncate(text: string, length: number): string {
  return text.length <= length ? text : `${apply(slice, text, [0, length])}…`;
}
