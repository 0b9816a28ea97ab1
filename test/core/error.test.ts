/** The table of error codes, and errors that are recognised by their shape in every realm. */
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from '@jest/globals';
import {
  assertNever,
  ERRORS,
  type ErrorCode,
  errorMessage,
  isRuntimeError,
  RuntimeError,
} from '../../src/core/value/error.ts';

const DECIDED = [
  'ThreadTerminated',
  'ThreadNotFound',
  'InvalidMessage',
  'MessageTooLarge',
  'InvalidStart',
  'AgentNotFound',
  'StoreMismatch',
  'MissingVariable',
  'SandboxBusy',
] as const;

describe('the table of errors', () => {
  it('has the codes that clients rely on', () => {
    expect(Object.keys(ERRORS)).toEqual(expect.arrayContaining([...DECIDED]));
  });

  it.each(Object.entries(ERRORS))('gives %s an exit code and an HTTP status', (_code, row) => {
    expect([1, 2, 3]).toContain(row.exit);
    expect(row.status).toBeGreaterThanOrEqual(400);
    expect(row.status).toBeLessThan(600);
  });

  it.each<[ErrorCode, number]>([
    ['InvalidMessage', 2],
    ['InvalidStart', 2],
    ['MessageTooLarge', 2],
    ['ThreadNotFound', 3],
    ['ThreadTerminated', 3],
  ])('answers %s with exit code %i, as decided for the command line', (code, exit) => {
    expect(ERRORS[code].exit).toBe(exit);
  });
});

describe('a runtime error', () => {
  it('keeps its code, its message and its cause', () => {
    const cause = new Error('deeper');
    const error = new RuntimeError('ThreadNotFound', 'Thread "t1" is not here.', { cause });
    expect(error).toMatchObject({
      name: 'RuntimeError',
      code: 'ThreadNotFound',
      message: 'Thread "t1" is not here.',
      cause,
    });
  });

  it('is recognised by its shape, from another realm too', () => {
    const foreign: unknown = runInNewContext(
      `Object.assign(new Error('gone'), { name: 'RuntimeError', code: 'ThreadNotFound' })`,
    );
    expect(isRuntimeError(foreign)).toBe(true);
    expect(isRuntimeError(foreign, 'ThreadNotFound')).toBe(true);
    expect(isRuntimeError(foreign, 'ThreadTerminated')).toBe(false);
  });

  it.each([
    undefined,
    null,
    'RuntimeError',
    new Error('x'),
    { name: 'RuntimeError' },
    { name: 'RuntimeError', code: 1 },
    { name: 'RuntimeError', code: 'NoSuchCode' },
    { name: 'RuntimeError', code: 'toString' },
    { name: 'Other', code: 'ThreadNotFound' },
  ])('is not %p', (value) => {
    expect(isRuntimeError(value)).toBe(false);
  });
});

describe('the text of a thrown value', () => {
  it.each([
    [new Error('boom'), 'boom'],
    [{ message: 'plain' }, 'plain'],
    ['text', 'text'],
    [undefined, 'No reason was given (undefined was thrown).'],
    [null, 'No reason was given (null was thrown).'],
    [new Error(''), 'Error'],
    [{ message: 7 }, '{"message":7}'],
  ])('of %p is %j', (thrown, said) => {
    expect(errorMessage(thrown)).toBe(said);
  });

  it('names the unhandled member of a union', () => {
    expect(() => assertNever({ kind: 'new' } as never)).toThrow('{"kind":"new"}');
  });
});
