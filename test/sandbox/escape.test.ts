/** Programs that try to escape from the sandbox, one by one: none reaches an object, a global or a path of the host. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createSandbox } from '../../src/sandbox/index.ts';
import { changesOf, listenForAlarms, MARKER, runEscape, snapshotBuiltins } from './escape-harness.ts';
import type { EscapeProgram } from './escape-program.ts';
import { CONSTRUCTORS } from './escape-programs-constructors.ts';
import { ERRORS } from './escape-programs-errors.ts';
import { HOST_FUNCTIONS } from './escape-programs-host.ts';
import { LANGUAGE } from './escape-programs-language.ts';
import { MODULES } from './escape-programs-modules.ts';
import { POISON } from './escape-programs-poison.ts';
import { SYNTAX } from './escape-programs-syntax.ts';
import { VALUES } from './escape-programs-values.ts';

const PROGRAMS: Readonly<Record<string, readonly EscapeProgram[]>> = {
  'constructors of code': CONSTRUCTORS,
  'errors and stacks': ERRORS,
  'functions of the host': HOST_FUNCTIONS,
  'the language': LANGUAGE,
  modules: MODULES,
  'poisoned builtins': POISON,
  syntax: SYNTAX,
  'values on their way out': VALUES,
};

const sandbox = createSandbox({ size: 1 });
const scope = sandbox.scope();
const alarm = listenForAlarms();
const { pid } = process;
let before = snapshotBuiltins();

beforeAll(() => {
  process.env.EVERTHREAD_ESCAPE_MARKER = MARKER;
});
beforeEach(() => {
  before = snapshotBuiltins();
});
afterAll(async () => {
  delete process.env.EVERTHREAD_ESCAPE_MARKER;
  await sandbox.close();
  alarm.off();
});

describe.each(Object.entries(PROGRAMS))('by way of %s', (_, programs) => {
  it.each(programs)('adversarial: $name fails', async (program) => {
    const { status, leaks, shown } = await runEscape(scope, program);
    expect(leaks).toEqual([]);
    expect({ status, shown }).toEqual({ status: program.status ?? 'success', shown });
    expect(changesOf(before, snapshotBuiltins())).toEqual([]);
    // Unhandled rejections are reported one turn of the event loop later.
    await new Promise((resolve) => setImmediate(resolve));
    expect(alarm.heard()).toEqual([]);
    expect(process.pid).toBe(pid);
    const next = await scope.runCode('export default [typeof leaked, ({}).leaked, [].concat(1, 2)]');
    expect(next.result).toEqual(['undefined', undefined, [1, 2]]);
  });
});

it('adversarial: has many programs with unique names', () => {
  const names = Object.values(PROGRAMS).flatMap((programs) => programs.map(({ name }) => name));
  expect(new Set(names).size).toBe(names.length);
  expect(names.length).toBeGreaterThanOrEqual(80);
});
